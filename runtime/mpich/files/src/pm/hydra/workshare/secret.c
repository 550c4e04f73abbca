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

HYD_status HYDU_secret_draw(void)
{
    unsigned char bytes[HYDU_SECRET_LEN / 2];
    HYD_status status = HYD_SUCCESS;

    if (secret[0])
        goto fn_exit;
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "cannot draw a secret (%s)\n", MPL_strerror(errno));
    for (int i = 0; i < (int) sizeof(bytes); i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    /* The ranks do not get it: what they inherit has been listed before, and proxies remove it */
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
        return; /* the launcher has ended, which is told where its status is seen */
}

void HYDU_secret_tell(void)
{
    HYDU_dump_noprefix(stdout, "env " SECRET "=%s ", secret);
}

/* A launcher that keeps its standard input to itself is seen by its silence. */
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

/* Takes it off the list; its connection stays open. */
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

/* Takes as long for any text. */
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

HYD_status HYDU_listen_at_iface(char *iface, char *port_range, char **port_str, int *listen_fd,
                                HYD_status(*callback) (int fd, HYD_event_t events, void *userp),
                                void *userp)
{
    struct sockaddr_in *addr;
    MPL_sockaddr_t found;
    char text[MAX_HOSTNAME_LEN];
    socklen_t len = sizeof(*addr);
    int low = 0, high = 0, fd = -1, one = 1;
    HYD_status status = HYD_SUCCESS;

    if (MPL_get_sockaddr_iface(iface, &found) || found.ss_family != AF_INET)
        HYDU_ERR_SETANDJUMP(status, HYD_INVALID_PARAM, "unable to find interface %s\n", iface);
    addr = (struct sockaddr_in *) &found;
    MPL_sockaddr_to_str(&found, text, sizeof(text));
    if (port_range && (sscanf(port_range, "%d:%d", &low, &high) != 2 || high < low))
        HYDU_ERR_SETANDJUMP(status, HYD_INVALID_PARAM, "error parsing port range %s\n", port_range);

    fd = MPL_socket();
    if (fd < 0)
        HYDU_ERR_SETANDJUMP(status, HYD_SOCK_ERROR, "cannot open socket (%s)\n", MPL_strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(int));
    for (;; low++) {
        addr->sin_port = htons(low);
        if (bind(fd, (struct sockaddr *) addr, sizeof(*addr)) == 0)
            break;
        if (errno != EADDRINUSE || low >= high)
            HYDU_ERR_SETANDJUMP(status, HYD_SOCK_ERROR, "no port to bind at %s (%s)\n", text,
                                MPL_strerror(errno));
    }
    if (listen(fd, SOMAXCONN) < 0 || getsockname(fd, (struct sockaddr *) addr, &len) < 0)
        HYDU_ERR_SETANDJUMP(status, HYD_SOCK_ERROR, "listen error (%s)\n", MPL_strerror(errno));
    snprintf(text + strlen(text), sizeof(text) - strlen(text), ":%d", ntohs(addr->sin_port));

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
