// SPDX-License-Identifier: Apache-2.0
/**
 * TCP, UDP and Unix sockets in the scheduler. A goroutine that waits for a socket leaves its thread to other goroutines. The M whose {@code
 * epoll_wait} finds the socket ready runs the goroutine itself. Names are those of Go's package {@code net} where the JDK has no better
 * name.
 *
 * <p>Goroutines of any scheduler, virtual threads of the JDK's own scheduler and platform threads may use sockets, as they may use
 * channels. Threads that are not goroutines sleep while they wait, and a daemon thread of the process wakes them. One thread may read from
 * a connection while another one writes to it. If several threads read, their calls run one after the other, and so do the calls of several
 * writers.
 *
 * <h2 id="waits">Waits</h2>
 * A call that waits ends early
 * <ul>
 * <li>by a {@code close}: {@link org.gmp4j.net.ClosedException};
 * <li>by a deadline, or by the time limit of a form named {@code …Within}: {@link java.net.SocketTimeoutException};
 * <li>by an interrupt of a virtual thread that a {@code Gmp} runs, or by a cancel of the caller's {@code Task}: an {@link
 *     java.io.InterruptedIOException} that says "interrupted". The interrupt status stays set, and the socket stays open;
 * <li>in a form named {@code …Interruptibly} by an interrupt of any thread: {@link java.lang.InterruptedException}; the status is cleared;
 * <li>in a form named {@code …Unless} by a context: the context's error.
 * </ul>
 * The forms of a read or a write take a {@link java.nio.ByteBuffer}, for example one that wraps an array, or a segment's {@code
 * asByteBuffer()}. A call with several buffers has no such forms. A context can end it by a deadline: {@code ctx.afterFunc(…)} with {@code
 * conn.setDeadlineAfter(Duration.ZERO)}.
 *
 * <p>An interrupt of any other thread does not end a call, and the interrupt status is set when the call returns. In a bubble of
 * {@code Synctest} a call that waits holds the bubble's clock, and deadlines go by the machine's clock.
 *
 * <p>The program has to close its sockets; the collector does not.
 *
 * <p>Source: Go's packages {@code net} and {@code internal/poll}.
 */
@NullMarked
package org.gmp4j.net;

import org.jspecify.annotations.NullMarked;
