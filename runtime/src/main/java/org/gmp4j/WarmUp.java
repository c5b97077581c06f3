// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.proc.Bubble;
import org.gmp4j.sync.WaitGroup;
import org.jspecify.annotations.Nullable;

/**
 * Has a scheduler compiled before anybody waits for an answer. In a young JVM the compilers take a CPU for a second or two, and what is
 * asked of a service meanwhile waits. A service that warms up before it listens starts later by so much, and answers from the first
 * request on as one that has run for a while; only its own code, which this does not know, is as cold as ever.
 *
 * <p>Goroutines in pairs send each other some bytes through pipes, as a client and the handler of its connection do, start others, wait
 * for these by a channel, sleep for a moment, and now and then need the CPU for longer than their time slice. A pipe waits where a socket
 * of the JDK does, and needs no port.
 *
 * <p>From any thread, and several at once; in a bubble of {@code Synctest} the wait holds the clock. An interrupt does not shorten it.
 */
public final class WarmUp {
    static final Duration SHORTEST = Duration.ofMillis(1);
    static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int PAIRS = 16;
    /** In one of so many rounds a client starts a goroutine and sleeps; in one of so many the first handler overruns. */
    private static final int SLEEP_EVERY = 16;
    private static final int OVERRUN_EVERY = 8;
    private static final Duration PAUSE = Duration.ofNanos(200_000);
    private static final int QUANTA = 3;
    private static final long LONGEST_OVERRUN = 5_000_000;

    private final Gmp gmp;
    private final long end;
    private final long overrun;
    private final WaitGroup running = new WaitGroup();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private WarmUp(Gmp gmp, long nanos) {
        this.gmp = gmp;
        end = System.nanoTime() + nanos;
        overrun = Math.min(QUANTA * gmp.s.config.leastQuantumNanos(), LONGEST_OVERRUN);
    }

    /**
     * Has goroutines of a scheduler do for so long what those of services do; returns when they have ended. Others may run meanwhile. With
     * 1 to 2 s on one CPU most is compiled. It has 64 descriptors meanwhile.
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
        Optional<Throwable> failure = Bubble.outside(() -> new WarmUp(gmp, d.toNanos()).run());
        if (failure.orElse(null) instanceof IOException e) {
            throw new UncheckedIOException("the warm-up had no pipe: " + e.getMessage(), e);
        }
        failure.ifPresent(t -> {
            throw Go.<RuntimeException>sneaky(t);
        });
    }

    /** Returns what failed first. */
    private Optional<Throwable> run() {
        try {
            for (int i = 0; i < PAIRS; i++) {
                startPair(i == 0);
            }
        } catch (IOException | RuntimeException | Error e) {
            failed(e);
        }
        running.await();
        return Optional.ofNullable(failure.get());
    }

    private void startPair(boolean overruns) throws IOException {
        Pipe request = Pipe.open();
        Pipe answer = null;
        boolean done = false;
        try {
            Pipe back = Pipe.open();
            answer = back;
            start(() -> serve(request.source(), back.sink(), overruns));
            start(() -> ask(request.sink(), back.source()));
            done = true;
        } finally {
            if (!done) {
                close(request);
                if (answer != null) {
                    close(answer);
                }
            }
        }
    }

    private static void close(Pipe p) throws IOException {
        p.sink().close();
        p.source().close();
    }

    /** Half of a pair; when it ends it closes its ends of the pipes, and so ends the other half. */
    private interface Half {
        void run() throws IOException;
    }

    private void start(Half half) {
        Thread t = gmp.threadFactory().newThread(() -> {
            try {
                half.run();
            } catch (Throwable e) {
                failed(e);
            } finally {
                running.done();
            }
        });
        running.add(1);
        boolean started = false;
        try {
            t.start();
            started = true;
        } finally {
            if (!started) {
                running.done();
            }
        }
    }

    private void failed(Throwable t) {
        boolean _ = failure.compareAndSet(null, t);
    }

    /** Asks until it is time to end, or something has failed. */
    private void ask(Pipe.SinkChannel to, Pipe.SourceChannel from) throws IOException {
        try (to; from) {
            ByteBuffer b = ByteBuffer.allocateDirect(Long.BYTES);
            Chan<Integer> done = Chan.make();
            for (int round = 0; System.nanoTime() - end < 0 && failure.get() == null; round++) {
                to.write(b.clear());
                if (from.read(b.clear()) < 0) {
                    return;
                }
                if (round % SLEEP_EVERY == 0) {
                    int n = round;
                    Go.go(() -> done.send(n));
                    Integer _ = done.recv();
                    Go.sleep(PAUSE);
                }
            }
        }
    }

    private void serve(Pipe.SourceChannel from, Pipe.SinkChannel to, boolean overruns) throws IOException {
        try (from; to) {
            ByteBuffer b = ByteBuffer.allocateDirect(Long.BYTES);
            for (int round = 1; from.read(b.clear()) >= 0; round++) {
                if (overruns && round % OVERRUN_EVERY == 0) {
                    overrun();
                }
                to.write(b.clear());
            }
        }
    }

    /** The agent leaves our own classes alone: so this has a point of its own. */
    private void overrun() {
        for (long until = System.nanoTime() + overrun; System.nanoTime() < until;) {
            Go.preemptPoint();
        }
    }
}
