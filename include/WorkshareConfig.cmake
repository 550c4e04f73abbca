# SPDX-License-Identifier: MIT
#
# find_package(Workshare) gives the target Workshare::ws: <workshare/ws.h>, <workshare/ws.hpp> (C++17) and libws.
# Finds everything beside itself, so the installation may be moved.

get_filename_component(Workshare_LIBDIR "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
if(NOT EXISTS "${Workshare_LIBDIR}/libws.so.1")
    set(Workshare_FOUND FALSE)
    set(Workshare_NOT_FOUND_MESSAGE "there is no ${Workshare_LIBDIR}/libws.so.1")
    return()
endif()
if(NOT TARGET Workshare::ws)
    add_library(Workshare::ws SHARED IMPORTED)
    set_target_properties(Workshare::ws PROPERTIES
        IMPORTED_LOCATION "${Workshare_LIBDIR}/libws.so.1"
        IMPORTED_SONAME "libws.so.1"
        INTERFACE_INCLUDE_DIRECTORIES "${Workshare_LIBDIR}/workshare/include")
endif()
