// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongConsumer;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.SpinPolicy;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.gmp4j.trace.Trace;

/** Goroutines, channels and locks of this project. */
final class GmpKit implements Kit {
    private static final Duration HOUR = Duration.ofHours(1);

    private final Gmp gmp;

    /**
     * Starts a scheduler.
     *
     * @param variant empty for the defaults, or {@code spin=latency}, {@code spin=go}, {@code quantum=1ms}
     */
    GmpKit(int procs, String variant) {
        Gmp.Builder builder = Gmp.builder().procs(procs);
        switch (variant) {
            case "", "spin=go" -> builder.spin(SpinPolicy.go());
            case "spin=latency" -> builder.spin(SpinPolicy.latency(Duration.ofMillis(5)));
            case "quantum=1ms" -> builder.quantum(Duration.ofMillis(1));
            default -> throw new IllegalArgumentException("unknown variant " + variant);
        }
        gmp = builder.build();
    }

    @Override
    public void run(Runnable main) {
        gmp.run(main);
    }

    @Override
    public void go(Runnable r) {
        Go.go(r);
    }

    @Override
    public void yield() {
        Go.gosched();
    }

    @Override
    public void sleep(Duration d) {
        Go.sleep(d);
    }

    @Override
    public void blocking(Runnable call) {
        try {
            Object _ = Go.blocking(() -> {
                call.run();
                return call;
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private record Channel(LongChan ch) implements Queue {
        @Override
        public void send(long v) {
            ch.send(v);
        }

        @Override
        public long recv() {
            return ch.recv();
        }
    }

    @Override
    public Queue queue(int capacity) {
        return new Channel(LongChan.make(capacity));
    }

    @Override
    public Guard guard() {
        Mutex m = new Mutex();
        return new Guard() {
            @Override
            public void lock() {
                m.lock();
            }

            @Override
            public void unlock() {
                m.unlock();
            }
        };
    }

    @Override
    public Latch latch(int n) {
        WaitGroup wg = new WaitGroup();
        wg.add(n);
        return new Latch() {
            @Override
            public void done() {
                wg.done();
            }

            @Override
            public void await() {
                wg.await();
            }
        };
    }

    @Override
    public Gate gate() {
        Chan<Object> ch = Chan.make();
        return new Gate() {
            @Override
            public void await() {
                ch.recv();
            }

            @Override
            public void open() {
                ch.close();
            }
        };
    }

    @Override
    public Alarm alarm() {
        Timer t = Time.newTimer(HOUR);
        return new Alarm() {
            @Override
            public void reset() {
                t.reset(HOUR);
            }

            @Override
            public void stop() {
                t.stop();
            }
        };
    }

    @Override
    public Runnable either(Queue a, LongConsumer onA, Queue b, LongConsumer onB) {
        Select s = Select.of().recvLong(((Channel) a).ch(), onA).recvLong(((Channel) b).ch(), onB);
        return s::run;
    }

    @Override
    public Runnable trace() {
        try {
            Path file = Files.createTempFile("peers", ".pftrace");
            Trace trace = Trace.start(gmp, file);
            return () -> {
                try {
                    trace.stop();
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        gmp.close();
    }
}
