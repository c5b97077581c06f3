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
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;

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
    /** In one of so many rounds a client starts a goroutine and sleeps. */
    private static final int SLEEP_EVERY = 16;
    private static final Duration PAUSE = Duration.ofNanos(200_000);
    /** Of the first pair's time it needs the CPU for one part in so many. */
    private static final int OVERRUN_PART = 10;
    private static final long LONGEST_OVERRUN = 20_000_000;

    private final Gmp gmp;
    private final long end;
    private final long overrun;
    private final List<Pipe> pipes = new ArrayList<>();
    /** The caller, and the goroutines that have not ended. */
    private final Phaser running = new Phaser(1);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private WarmUp(Gmp gmp, long nanos) {
        this.gmp = gmp;
        end = System.nanoTime() + nanos;
        long quantum = gmp.s.config.leastQuantumNanos();
        overrun = Math.min(quantum + quantum / 2, LONGEST_OVERRUN);
    }

    /**
     * Has goroutines of a scheduler do for so long what those of services do; returns when they have ended. Others may run meanwhile. It
     * has 64 descriptors until then.
     *
     * @param gmp the scheduler that is to serve
     * @param d 1 ms to 1 minute
     * @throws IllegalArgumentException when it is out of range
     * @throws java.util.concurrent.RejectedExecutionException when {@code gmp} is closed
     * @throws UncheckedIOException when there are too few descriptors
     */
    public static void run(Gmp gmp, Duration d) {
        if (d.compareTo(SHORTEST) < 0 || d.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("the warm-up is " + d + ": use 1 ms to 1 minute");
        }
        Throwable failed = new WarmUp(gmp, d.toNanos()).run();
        if (failed instanceof IOException e) {
            throw new UncheckedIOException("the warm-up has no pipe: " + e.getMessage(), e);
        }
        if (failed != null) {
            throw Go.<RuntimeException>sneaky(failed);
        }
    }

    /** Returns what failed first, or null. */
    private @Nullable Throwable run() {
        try {
            for (int i = 0; i < 2 * PAIRS; i++) {
                pipes.add(Pipe.open());
            }
            for (int i = 0; i < PAIRS; i++) {
                boolean overruns = i == 0;
                Pipe request = pipes.get(2 * i);
                Pipe answer = pipes.get(2 * i + 1);
                start(() -> serve(request.source(), answer.sink(), overruns), answer.sink());
                start(() -> ask(request.sink(), answer.source()), request.sink());
            }
        } catch (IOException | RuntimeException | Error e) {
            failed(e);
            closePipes();
        }
        int _ = running.awaitAdvance(running.arriveAndDeregister());
        closePipes();
        return failure.get();
    }

    /** After that what others throw is of no interest: it comes from this. */
    private void failed(Throwable t) {
        boolean _ = failure.compareAndSet(null, t);
    }

    private void closePipes() {
        for (Pipe p : pipes) {
            close(p.sink());
            close(p.source());
        }
    }

    private void close(Closeable c) {
        try {
            c.close();
        } catch (IOException e) {
            failed(e);
        }
    }

    /** Half of a pair; when it has ended the other ends too, for the pipe that it wrote to is closed. */
    private interface Half {
        void run() throws IOException;
    }

    private void start(Half half, Pipe.SinkChannel to) {
        Thread t = gmp.threadFactory().newThread(() -> {
            try {
                half.run();
            } catch (Throwable e) {
                failed(e);
            } finally {
                close(to);
                int _ = running.arriveAndDeregister();
            }
        });
        int _ = running.register();
        boolean started = false;
        try {
            t.start();
            started = true;
        } finally {
            if (!started) {
                int _ = running.arriveAndDeregister();
            }
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
