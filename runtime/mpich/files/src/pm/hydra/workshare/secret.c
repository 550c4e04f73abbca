/* SPDX-License-Identifier: MIT
 *
 * See ending.h: who may connect to mpiexec. Included by utils/launch/launch.c.
 */
#include "demux.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>

#define SECRET "HYDI_CONTROL_SECRET"

static char secret[HYDU_SECRET_LEN + 1];
static int is_given;            /* the caller of mpiexec knows the secret already */

HYD_status HYDU_secret_draw(void)
{
    unsigned char bytes[HYDU_SECRET_LEN / 2];
    const char *given = getenv(SECRET);
    HYD_status status = HYD_SUCCESS;

    if (secret[0])
        goto fn_exit;
    if (given) {
        if (strlen(given) != HYDU_SECRET_LEN || strspn(given, "0123456789abcdef") != HYDU_SECRET_LEN)
            HYDU_ERR_SETANDJUMP(status, HYD_INVALID_PARAM, SECRET " is not %d hexadecimal digits in lower case\n",
                                HYDU_SECRET_LEN);
        strcpy(secret, given);
        is_given = 1;
        goto fn_exit;
    }
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "cannot draw a secret (%s)\n", MPL_strerror(errno));
    for (int i = 0; i < (int) sizeof(bytes); i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    /* The ranks do not get it: their environment has been listed before, and proxies remove it */
    if (setenv(SECRET, secret, 1) < 0)
        HYDU_ERR_SETANDJUMP(status, HYD_NO_MEM, "cannot set " SECRET "\n");

  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

void HYDU_secret_to_launcher(int fd)
{
    char line[HYDU_SECRET_LEN + 1];

    if (!secret[0])
        return;
    memcpy(line, secret, HYDU_SECRET_LEN);
    line[HYDU_SECRET_LEN] = '\n';
    if (write(fd, line, sizeof(line)) < 0)
        return; /* the launcher has ended; its status is reported elsewhere */
}

void HYDU_secret_tell(void)
{
    if (!is_given)
        HYDU_dump_noprefix(stdout, "env " SECRET "=%s ", secret);
}

/* Reads the secret from the standard input. If the launcher does not pass that on, nothing arrives within 30 s. */
static int read_secret(void)
{
    struct pollfd in = {.fd = STDIN_FILENO,.events = POLLIN };
    int len = 0, got;

    while (len < HYDU_SECRET_LEN && poll(&in, 1, 30000) > 0 &&
           (got = read(STDIN_FILENO, secret + len, HYDU_SECRET_LEN - len)) > 0)
        len += got;
    return len == HYDU_SECRET_LEN;
}

HYD_status HYDU_secret_send(int fd)
{
    const char *given = getenv(SECRET);
    int sent, closed;
    HYD_status status = HYD_SUCCESS;

    if (given && strlen(given) == HYDU_SECRET_LEN)
        memcpy(secret, given, HYDU_SECRET_LEN);
    else if (!read_secret())
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR,
                            "no secret from mpiexec: the launcher passes on neither its environment (" SECRET
                            ") nor its standard input\n");
    unsetenv(SECRET);
    status = HYDU_sock_write(fd, secret, HYDU_SECRET_LEN, &sent, &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to send the secret to mpiexec\n");

  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

/* Connections that have not sent the whole secret yet: at most `most_strangers`; then the oldest one goes. */
struct stranger {
    int fd, len;
    char text[HYDU_SECRET_LEN];
    void *userp;
     HYD_status(*proxy_cb) (int fd, HYD_event_t events, void *userp);
    struct stranger *next;
};
static struct stranger *strangers;
enum { most_strangers = 64 };

/* Removes it from the list; its connection stays open. */
static HYD_status forget(struct stranger *s)
{
    struct stranger **at = &strangers;

    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    return HYDT_dmx_deregister_fd(s->fd);
}

static HYD_status turn_away(struct stranger *s)
{
    HYD_status status = forget(s);

    close(s->fd);
    MPL_free(s);
    return status;
}

/* Takes the same time for any text. */
static int is_secret(const char *text)
{
    unsigned char differs = 0;

    for (int i = 0; i < HYDU_SECRET_LEN; i++)
        differs |= text[i] ^ secret[i];
    return secret[0] && !differs;
}

static HYD_status stranger_cb(int fd, HYD_event_t events, void *userp)
{
    struct stranger *s = userp;
    int got = read(fd, s->text + s->len, HYDU_SECRET_LEN - s->len);
    HYD_status status = HYD_SUCCESS;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        goto fn_exit;
    if (got > 0)
        s->len += got;
    if (got <= 0 || (s->len == HYDU_SECRET_LEN && !is_secret(s->text))) {
        status = turn_away(s);
        goto fn_exit;
    }
    if (s->len == HYDU_SECRET_LEN) {
        status = forget(s);
        HYDU_ERR_POP(status, "unable to deregister fd\n");
        status = HYDU_sock_set_block(fd);
        HYDU_ERR_POP(status, "unable to set blocking\n");
        status = HYDT_dmx_register_fd(1, &fd, HYD_POLLIN, s->userp, s->proxy_cb);
        HYDU_ERR_POP(status, "unable to register fd\n");
        MPL_free(s);
    }

  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

HYD_status HYDU_secret_accept(int listen_fd, void *userp,
                              HYD_status(*proxy_cb) (int fd, HYD_event_t events, void *userp))
{
    struct stranger *s, *oldest;
    int fd, count = 0, one = 1;
    HYD_status status = HYD_SUCCESS;

    for (s = oldest = strangers; s; s = s->next, count++)
        oldest = s;
    if (count == most_strangers) {
        status = turn_away(oldest);
        HYDU_ERR_POP(status, "unable to deregister fd\n");
    }
    fd = accept(listen_fd, NULL, NULL);
    if (fd < 0)
        goto fn_exit;   /* it went away again, or no more files may be open for a while */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(int));
    status = HYDU_sock_cloexec(fd);
    HYDU_ERR_POP(status, "unable to set socket to close on exec\n");
    status = HYDU_sock_set_nonblock(fd);
    HYDU_ERR_POP(status, "unable to set socket to non-blocking\n");

    HYDU_MALLOC_OR_JUMP(s, struct stranger *, sizeof(*s), status);
    s->fd = fd;
    s->len = 0;
    s->userp = userp;
    s->proxy_cb = proxy_cb;
    s->next = strangers;
    strangers = s;
    status = HYDT_dmx_register_fd(1, &fd, HYD_POLLIN, s, stranger_cb);
    HYDU_ERR_POP(status, "unable to register fd\n");

  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

int HYDU_localhost_is_given;

/* Returns the address from which this host sends to `to`, 0 if there is none; sends no packet. */
static int source_address(struct sockaddr_in to, struct in_addr *from)
{
    struct sockaddr_in here;
    socklen_t len = sizeof(here);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), found;

    to.sin_family = AF_INET;
    to.sin_port = htons(9);     /* any */
    found = fd >= 0 && connect(fd, (struct sockaddr *) &to, sizeof(to)) == 0 &&
        getsockname(fd, (struct sockaddr *) &here, &len) == 0;
    if (fd >= 0)
        close(fd);
    if (found)
        *from = here.sin_addr;
    return found;
}

static int is_loopback(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == 127;
}

static int resolve(const char *name, struct sockaddr_in *found)
{
    MPL_sockaddr_t any;

    if (MPL_get_sockaddr(name, &any) || any.ss_family != AF_INET)
        return 0;
    memcpy(found, &any, sizeof(*found));
    return 1;
}

/* Returns whether the address is this host's: it can bind to no other. */
static int is_of_this_host(struct sockaddr_in address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

    address.sin_port = 0;
    ret = fd < 0 ? -1 : bind(fd, (struct sockaddr *) &address, sizeof(address));
    if (fd >= 0)
        close(fd);
    return ret == 0;
}

/* Finds the one address from which this host sends to all of them. The loopback interface leads to this host alone, which
 * can also be reached at any of its other addresses. */
static int find_address(const char *const *hosts, struct in_addr *address)
{
    struct sockaddr_in host;
    struct in_addr from;

    address->s_addr = INADDR_ANY;
    for (; *hosts; hosts++) {
        if (!resolve(*hosts, &host) || !source_address(host, &from) ||
            (is_loopback(from) && !MPL_host_is_local(*hosts)))
            return 0;
        if (address->s_addr == INADDR_ANY || is_loopback(*address))
            *address = from;
        else if (address->s_addr != from.s_addr && !is_loopback(from))
            return 0;
    }
    return address->s_addr != INADDR_ANY;
}

HYD_status HYDU_find_way(const char *const *hosts, char *iface, char *localhost, struct HYDU_way *way)
{
    struct sockaddr_in addr = {.sin_addr.s_addr = htonl(0xc0000201) }; /* 192.0.2.1, which no host has */
    struct sockaddr_in own;
    struct in_addr text;
    MPL_sockaddr_t found;
    HYD_status status = HYD_SUCCESS;

    way->address.s_addr = INADDR_ANY;
    MPL_strncpy(way->name, localhost, sizeof(way->name));
    if (iface) {
        if (MPL_get_sockaddr_iface(iface, &found) || found.ss_family != AF_INET)
            HYDU_ERR_SETANDJUMP(status, HYD_INVALID_PARAM, "unable to find interface %s\n", iface);
        way->address = ((struct sockaddr_in *) &found)->sin_addr;
    } else if (HYDU_localhost_is_given) {
        /* Debian gives a host's own name an address of the loopback interface */
        if (resolve(localhost, &addr) && is_of_this_host(addr) &&
            (inet_pton(AF_INET, localhost, &text) == 1 || !is_loopback(addr.sin_addr)))
            way->address = addr.sin_addr;
        goto fn_exit;
    } else if (!find_address(hosts, &way->address)) {
        way->address.s_addr = INADDR_ANY;
        if (resolve(localhost, &own))
            goto fn_exit;
        /* A name that this host does not know is no use to others: the address of its default route, or the loopback's */
        if (!source_address(addr, &addr.sin_addr))
            addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        inet_ntop(AF_INET, &addr.sin_addr, way->name, sizeof(way->name));
        goto fn_exit;
    }
    inet_ntop(AF_INET, &way->address, way->name, sizeof(way->name));

  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

HYD_status HYDU_listen_at(const struct HYDU_way *way, char *port_range, char **port_str, int *listen_fd,
                          HYD_status(*callback) (int fd, HYD_event_t events, void *userp), void *userp)
{
    struct sockaddr_in addr = {.sin_family = AF_INET,.sin_addr = way->address };
    char text[MAX_HOSTNAME_LEN + 10];
    socklen_t len = sizeof(addr);
    int low = 0, high = 0, fd = -1, one = 1;
    HYD_status status = HYD_SUCCESS;

    if (port_range && (sscanf(port_range, "%d:%d", &low, &high) != 2 || high < low))
        HYDU_ERR_SETANDJUMP(status, HYD_INVALID_PARAM, "error parsing port range %s\n", port_range);

    fd = MPL_socket();
    if (fd < 0)
        HYDU_ERR_SETANDJUMP(status, HYD_SOCK_ERROR, "cannot open socket (%s)\n", MPL_strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(int));
    for (;; low++) {
        addr.sin_port = htons(low);
        if (bind(fd, (struct sockaddr *) &addr, sizeof(addr)) == 0)
            break;
        if (errno != EADDRINUSE || low >= high)
            HYDU_ERR_SETANDJUMP(status, HYD_SOCK_ERROR, "no port to bind for %s (%s)\n", way->name,
                                MPL_strerror(errno));
    }
    if (listen(fd, SOMAXCONN) < 0 || getsockname(fd, (struct sockaddr *) &addr, &len) < 0)
        HYDU_ERR_SETANDJUMP(status, HYD_SOCK_ERROR, "listen error (%s)\n", MPL_strerror(errno));
    snprintf(text, sizeof(text), "%s:%d", way->name, ntohs(addr.sin_port));

    status = HYDU_sock_cloexec(fd);
    HYDU_ERR_POP(status, "unable to set socket to close on exec\n");
    status = HYDT_dmx_register_fd(1, &fd, HYD_POLLIN, userp, callback);
    HYDU_ERR_POP(status, "unable to register fd\n");
    *port_str = MPL_strdup(text);
    *listen_fd = fd;

  fn_exit:
    return status;

  fn_fail:
    if (fd >= 0)
        close(fd);
    goto fn_exit;
}

/* The kernel lists the connections of IPv4, each with its owner; addresses are hexadecimal, in memory's order. */
int HYDU_peer_is_this_user(int fd)
{
    struct sockaddr_in peer, here;
    socklen_t len = sizeof(peer), len_here = sizeof(here);
    char line[512];
    unsigned from, from_port, to, to_port, uid;
    int is_ours = 0;
    FILE *list;

    if (getpeername(fd, (struct sockaddr *) &peer, &len) < 0 ||
        getsockname(fd, (struct sockaddr *) &here, &len_here) < 0 || peer.sin_family != AF_INET)
        return 0;
    list = fopen("/proc/net/tcp", "r");
    while (list && !is_ours && fgets(line, sizeof(line), list))
        is_ours = sscanf(line, " %*d: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u", &from, &from_port, &to,
                         &to_port, &uid) == 5 && from == peer.sin_addr.s_addr &&
            from_port == ntohs(peer.sin_port) && to == here.sin_addr.s_addr &&
            to_port == ntohs(here.sin_port) && uid == geteuid();
    if (list)
        fclose(list);
    return is_ours;
}
