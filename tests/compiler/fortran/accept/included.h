!$ws do &
!$ws & schedule(guided)
