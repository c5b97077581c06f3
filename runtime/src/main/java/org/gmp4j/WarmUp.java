// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.proc.GStack;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Has a scheduler compiled before anybody waits for an answer. In a young JVM the compilers take a CPU for a second or two, and what is
 * asked of a service meanwhile waits. A service that warms up before it listens starts later by so much. Its own code, which this does not
 * know, is as cold as ever.
 *
 * <p>Goroutines in pairs send each other some bytes through pipes, as a client and the handler of its connection do, start others, wait
 * for these by a channel, sleep for a moment, and now and then need the CPU for longer than a time slice of up to 13 ms. A pipe waits
 * where a socket of the JDK does, and needs no port.
 *
 * <p>From any thread, and several at once; in a bubble of {@code Synctest} the wait holds the clock. An interrupt does not shorten it.
 */
public final class WarmUp {
    static final Duration SHORTEST = Duration.ofMillis(1);
    static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int PAIRS = 16;
    /**
     * Descriptors that have to be there, the pipes' and those that sockets take when a process first uses them: the JDK's pollers one for
     * each CPU, up to 32, and a few. A class of the JDK's that has none when it is initialised can never be used.
     */
    private static final int DESCRIPTORS = 4 * PAIRS + 40;
    /** How long after its end a wait that keeps the only carrier goes on. */
    private static final long GRACE = 1_000_000_000;
    /** In one of so many rounds a client starts a goroutine and sleeps. */
    private static final int SLEEP_EVERY = 16;
    private static final Duration PAUSE = Duration.ofNanos(200_000);
    /** Of the first pair's time it needs the CPU for one part in so many. */
    private static final int OVERRUN_PART = 10;
    private static final long LONGEST_OVERRUN = 20_000_000;

    private final Gmp gmp;
    private final long end;
    private final long overrun;
    private final List<Pipe> pipes = new ArrayList<>(2 * PAIRS);
    private final Thread caller = Thread.currentThread();
    /** Goroutines that use the pipes. */
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private WarmUp(Gmp gmp, long nanos) {
        this.gmp = gmp;
        end = System.nanoTime() + nanos;
        long quantum = gmp.s.config.leastQuantumNanos();
        overrun = Math.min(quantum + quantum / 2, LONGEST_OVERRUN);
    }

    /**
     * Has goroutines of a scheduler do for so long what those of services do; returns when they are about to end. Others may run meanwhile.
     * It has 64 descriptors until the end, and 104 for a moment at the beginning. For threads, interrupts and bubbles see above.
     *
     * @param gmp the scheduler that is to serve
     * @param d 1 ms to 1 minute
     * @throws IllegalArgumentException when it is out of range
     * @throws java.util.concurrent.RejectedExecutionException when {@code gmp} is closed
     * @throws UncheckedIOException when there are too few descriptors
     * @throws StackOverflowError when there is too little room on the caller's stack: then nothing has happened
     */
    public static void run(Gmp gmp, Duration d) {
        if (d.compareTo(SHORTEST) < 0 || d.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("the warm-up is " + d + ": use 1 ms to 1 minute");
        }
        Throwable failed = new WarmUp(gmp, d.toNanos()).run();
        if (failed instanceof IOException e) {
            throw new UncheckedIOException("the warm-up has failed: " + e.getMessage(), e);
        }
        if (failed != null) {
            throw Go.<RuntimeException>sneaky(failed);
        }
    }

    /** Returns what failed first, or null. */
    private @Nullable Throwable run() {
        GStack.checkAll(); // What is started must be waited for, and closed.
        try {
            startAll();
        } catch (Throwable e) {
            failed(e);
            closePipes();
        }
        await();
        closePipes();
        return failure.get();
    }

    private void startAll() throws IOException {
        makeSureOfDescriptors();
        for (int i = 0; i < 2 * PAIRS; i++) {
            pipes.add(Pipe.open());
        }
        for (int i = 0; i < PAIRS; i++) {
            boolean overruns = i == 0;
            Pipe request = pipes.get(2 * i);
            Pipe answer = pipes.get(2 * i + 1);
            start(() -> serve(request.source(), answer.sink(), overruns), answer);
            start(() -> ask(request.sink(), answer.source()), request);
        }
    }

    /** By calls that initialise no class of the JDK's. */
    private static void makeSureOfDescriptors() throws IOException {
        int[] all = new int[DESCRIPTORS];
        int n = 0;
        try {
            while (n < all.length) {
                all[n] = EventFd.create();
                n++;
            }
        } catch (NativeException e) {
            throw new IOException(e.getMessage(), e);
        } finally {
            while (n > 0) {
                Fd.close(all[--n]);
            }
        }
    }

    private void await() {
        boolean interrupted = false;
        boolean pinned = false;
        while (running.get() != 0) {
            try {
                LockSupport.parkNanos(this, GRACE);
            } catch (StackOverflowError e) { // A virtual thread's stack that is larger than half a region of G1's cannot be moved.
                if (!pinned) {
                    JdkThreads.pin(); // Not before: a thread of the JDK's scheduler may keep its pollers from running, and goroutines wait.
                    pinned = true;
                }
            }
            if (pinned && System.nanoTime() - end > GRACE) {
                closePipes();
            }
            interrupted |= Thread.interrupted();
        }
        if (pinned) {
            JdkThreads.unpin();
        }
        if (interrupted) {
            caller.interrupt();
        }
    }

    /** After that what others throw is of no interest: it comes from this. */
    private void failed(Throwable t) {
        boolean _ = failure.compareAndSet(null, t);
    }

    private void closePipes() {
        for (Pipe p : pipes) {
            boolean _ = close(p.sink());
            boolean _ = close(p.source());
        }
    }

    private boolean close(Closeable c) {
        try {
            c.close();
            return true;
        } catch (Throwable e) {
            failed(e);
            return false;
        }
    }

    /** Half of a pair; when it has ended the other ends too, for the pipe that it wrote to is closed. */
    private interface Half {
        void run() throws IOException;
    }

    private void start(Half half, Pipe to) {
        Thread t = gmp.threadFactory().newThread(() -> {
            try {
                half.run();
            } catch (Throwable e) {
                failed(e);
            } finally {
                if (!close(to.sink())) {
                    boolean _ = close(to.source()); // So that the other does not wait for its end.
                }
                ends();
            }
        });
        int _ = running.incrementAndGet();
        boolean started = false;
        try {
            t.start();
            started = true;
        } finally {
            if (!started) {
                ends();
            }
        }
    }

    private void ends() {
        if (running.decrementAndGet() == 0) {
            LockSupport.unpark(caller);
        }
    }

    /** Asks until it is time to end, or something has failed. */
    private void ask(Pipe.SinkChannel to, Pipe.SourceChannel from) throws IOException {
        ByteBuffer b = ByteBuffer.allocateDirect(Long.BYTES);
        for (int round = 0; System.nanoTime() - end < 0 && failure.get() == null; round++) {
            to.write(b.clear());
            if (from.read(b.clear()) < 0) {
                return;
            }
            if (round % SLEEP_EVERY == 0) {
                startAnother();
                Go.sleep(PAUSE);
            }
        }
    }

    private void startAnother() {
        Chan<WarmUp> done = Chan.make(1);
        Go.go(() -> {
            try {
                done.send(this);
            } catch (Throwable e) {
                failed(e);
            } finally {
                done.close();
            }
        });
        WarmUp _ = done.recv();
    }

    private void serve(Pipe.SourceChannel from, Pipe.SinkChannel to, boolean overruns) throws IOException {
        ByteBuffer b = ByteBuffer.allocateDirect(Long.BYTES);
        long next = System.nanoTime();
        while (from.read(b.clear()) >= 0) {
            if (overruns && System.nanoTime() - next >= 0) {
                overrun();
                next = System.nanoTime() + overrun * (OVERRUN_PART - 1);
            }
            to.write(b.clear());
        }
    }

    /** The agent leaves our own classes alone: so this has a point of its own. */
    private void overrun() {
        long until = System.nanoTime() + overrun;
        while (System.nanoTime() - until < 0) {
            Go.preemptPoint();
        }
    }
}
