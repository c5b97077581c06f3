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
 * <h2 id="waits">Waits</h2>
 * A call that waits ends early
 * <ul>
 * <li>by a {@code close}: {@link org.gmp4j.net.ClosedException};
 * <li>by a deadline, or in a form named {@code …Within} by a time: {@link java.net.SocketTimeoutException};
 * <li>by an interrupt of a virtual thread that a {@code Gmp} runs, or of a {@code Task} that is cancelled: an {@link
 *     java.io.InterruptedIOException} that says "interrupted". The status stays set, and the socket open;
 * <li>in a form named {@code …Interruptibly} by an interrupt of any thread: {@link java.lang.InterruptedException}; the status is cleared;
 * <li>in a form named {@code …Unless} by a context, with its error.
 * </ul>
 * The forms of a read or a write take a {@link java.nio.ByteBuffer}: one that wraps an array, say, or is a segment's
 * {@code asByteBuffer()}. What takes several buffers is limited by a deadline alone, which a context's end may set:
 * {@code ctx.afterFunc(…)} with {@code conn.setDeadlineAfter(Duration.ZERO)}.
 *
 * <p>An interrupt of any other thread ends nothing: it is still there when the call returns. In a bubble of {@code Synctest} a call that
 * waits holds its clock, and deadlines go by the machine's.
 *
 * <p>A socket that nobody closes is a leaked descriptor; the collector does not close it.
 *
 * <p>Source: Go's packages {@code net} and {@code internal/poll}.
 */
@NullMarked
package org.gmp4j.net;

import org.jspecify.annotations.NullMarked;
