// SPDX-License-Identifier: Apache-2.0
/**
 * TCP, UDP and Unix sockets in the scheduler. A goroutine that waits for one gives its thread up, and the M that finds it
 * ready runs it: no other thread, and no system call but {@code epoll_wait} is in between. Names are those of Go's package
 * {@code net} where the JDK has no better one.
 *
 * <p>All of it may be used from goroutines of any scheduler, from virtual threads of the JDK's and from plain threads, as
 * channels may; the latter wait asleep, and a daemon thread of the process wakes them. A connection may be read by one and
 * written by another at the same time; several readers take turns, and so do several writers, each with a whole call.
 *
 * <p>What ends a call that waits: a {@code close}, by {@link org.gmp4j.net.ClosedException}; a deadline, by {@link
 * java.net.SocketTimeoutException}; and of a virtual thread that a {@code Gmp} runs, or a {@code Task} that is cancelled, an
 * interrupt, by an {@link java.io.InterruptedIOException} that says "interrupted". The status stays set then, and the socket open. An
 * interrupt of any other thread ends nothing: it is still there when the call returns. A context ends a dial by itself, and all else
 * by a deadline: {@code ctx.afterFunc(() -> conn.setDeadlineAfter(Duration.ZERO))}, or a {@code close} there. In a bubble of
 * {@code Synctest} a call that waits holds its clock, and deadlines go by the machine's. Who leaves a socket unclosed has leaked a
 * descriptor; nobody collects it.
 *
 * <p>Source: Go's packages {@code net} and {@code internal/poll}.
 */
package org.gmp4j.net;
