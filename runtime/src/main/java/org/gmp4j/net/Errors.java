// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.sched.GStack;
import org.gmp4j.wait.Limits;

/** Makes the exceptions of this package. They name the operation, its object and the error, as Go's {@code net.OpError} does. */
final class Errors {
    private static final AtomicBoolean LOADED = new AtomicBoolean();

    private Errors() {
    }

    /**
     * Called before a socket is made. Checks that the stack has room to close it. Loads the classes that an error needs, because a class
     * whose initialisation fails for lack of memory fails for ever.
     */
    static void prepare() {
        if (!LOADED.get()) {
            for (int e : new int[] {IoResult.CLOSED, IoResult.TIMED_OUT, IoResult.INTERRUPTED, Errno.EMFILE, Errno.EPIPE}) {
                for (String op : new String[] {"read", "dial", "listen"}) {
                    Object _ = of(op, Addresses.text(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)), e, 0);
                }
            }
            LOADED.set(true);
        }
        GStack.checkAll();
    }

    /**
     * Returns the exception of an operation.
     *
     * @param op {@code read}, {@code write}, {@code accept}, {@code dial}, {@code listen}, {@code close} or {@code set}
     * @param what the network and the addresses
     * @param error the error, as in IoResult
     * @param moved the number of bytes that were moved before the error
     */
    static IOException of(String op, String what, int error, long moved) {
        String text = op + " " + what + ": ";
        switch (error) {
            case IoResult.CLOSED -> {
                return new ClosedException(text + "use of closed network connection");
            }
            case IoResult.TIMED_OUT, IoResult.INTERRUPTED -> {
                InterruptedIOException e = error == IoResult.TIMED_OUT ? new SocketTimeoutException(text + "i/o timeout")
                        : new InterruptedIOException(text + "interrupted");
                e.bytesTransferred = (int) Math.min(moved, Integer.MAX_VALUE);
                return e;
            }
            case Errno.EMFILE, Errno.ENFILE, Errno.ENOBUFS, Errno.ENOMEM -> {
                return new ExhaustedException(text + Errno.describe(error));
            }
            case Errno.ENOSPC -> { // The error comes from epoll_ctl, or from a full disk for the file of a Unix socket.
                return op.equals("listen") ? new BindException(text + Errno.describe(error))
                        : new ExhaustedException(text + "the system's limit of descriptors that are watched is reached"
                                + " (/proc/sys/fs/epoll/max_user_watches)");
            }
            default -> {
                text += Errno.describe(error);
                return switch (op) {
                    case "dial" -> new ConnectException(text);
                    case "listen" -> new BindException(text);
                    default -> new SocketException(text);
                };
            }
        }
    }

    /**
     * If {@code limits} have ended a call, throws the context's error or an InterruptedException. Returns if the caller has to throw an
     * IOException.
     */
    static void check(Limits limits, int error) {
        if (error == IoResult.CANCELED || error == IoResult.INTERRUPTED) {
            limits.ended();
        }
    }

    /** Returns the exception of an operation whose native call failed. */
    static IOException of(String op, String what, NativeException e) {
        IOException x = of(op, what, e.errno(), 0);
        Throwable _ = x.initCause(e);
        return x;
    }
}
