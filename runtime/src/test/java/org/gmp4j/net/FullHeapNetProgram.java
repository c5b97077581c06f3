// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.text;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.gmp4j.Gmp;

/**
 * Fills the heap again and again while connections are made, used and closed, then looks whether a descriptor was lost or a
 * wait forgotten. A goroutine that gets an OutOfMemoryError closes its connections and goes on. Argument: seconds.
 */
final class FullHeapNetProgram {
    private static final long PATIENCE_SECONDS = 30;
    private static final AtomicReference<Throwable> UNEXPECTED = new AtomicReference<>();
    private static final AtomicLong NO_MEMORY = new AtomicLong();
    private static final AtomicLong DONE = new AtomicLong();
    private static final List<CountDownLatch> LIVING = new ArrayList<>();
    private static final ByteBuffer[] BUFFERS = new ByteBuffer[8];
    private static volatile boolean stop;
    private static volatile Object ballast;

    private FullHeapNetProgram() {
    }

    private static void unexpected(Throwable t) {
        if (t instanceof OutOfMemoryError) {
            long _ = NO_MEMORY.incrementAndGet();
        } else {
            boolean _ = UNEXPECTED.compareAndSet(null, t);
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    /** Again and again, by a goroutine or by a thread; a reset or an end is what happens to connections here. */
    private static void user(Gmp gmp, Step step) {
        CountDownLatch living = new CountDownLatch(1);
        LIVING.add(living);
        Runnable r = () -> {
            try {
                while (!stop) {
                    try {
                        step.run();
                        long _ = DONE.incrementAndGet();
                    } catch (IOException e) {
                        Thread.onSpinWait();
                    } catch (Throwable e) {
                        unexpected(e);
                    }
                }
            } finally {
                living.countDown();
            }
        };
        if (gmp != null) {
            gmp.go(r);
        } else {
            Thread.ofPlatform().daemon().start(r);
        }
    }

    private static void fill(long nanos) {
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) {
            LockSupport.parkNanos(System.nanoTime() & 0xffffff); // Up to 16 ms.
            Object[] head = null;
            for (int size = 1 << 16; size >= 16;) {
                try {
                    head = new Object[] {head, new byte[size]};
                    ballast = head;
                } catch (OutOfMemoryError e) {
                    size /= 4;
                }
            }
            LockSupport.parkNanos(System.nanoTime() & 0x3fffff);
            ballast = null;
        }
    }

    private static void echoed(String address, ByteBuffer b) throws IOException {
        try (TcpConn c = TcpConn.dial(address)) {
            for (int i = 0; i < 3; i++) {
                c.setDeadlineAfter(Duration.ofMillis(500)); // The server may have had no memory.
                int _ = c.write(b.clear());
                var _ = c.read(b.clear());
            }
        }
    }

    private static void served(TcpConn c) {
        try (c) {
            byte[] b = new byte[16];
            for (int n = c.read(b, 0, 16); n > 0; n = c.read(b, 0, 16)) {
                c.write(b, 0, n);
            }
        } catch (IOException e) {
            Thread.onSpinWait();
        } catch (Throwable e) {
            unexpected(e);
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        }
    }

    public static void main(String[] args) throws Exception {
        Gmp gmp = Gmp.builder().procs(2).uncaught((goid, t) -> unexpected(t)).build();
        for (int i = 0; i < BUFFERS.length; i++) {
            BUFFERS[i] = ByteBuffer.allocateDirect(16);
        }
        TcpListener l = TcpListener.listen(LOOPBACK);
        String address = text(l);
        user(gmp, () -> l.serve(FullHeapNetProgram::served));
        TcpListener slow = TcpListener.listen(LOOPBACK);
        for (int i = 0; i < 300; i++) { // Code is loaded, and compiled in part.
            int _ = gmp.call(() -> {
                echoed(address, BUFFERS[0]);
                return 0;
            });
            echoed(address, BUFFERS[0]);
            Io.thrown(() -> {
                slow.setDeadlineAfter(Duration.ofNanos(1));
                slow.accept().close();
            });
        }
        Thread.sleep(100);
        long before = descriptors();
        for (int i = 0; i < BUFFERS.length; i++) {
            ByteBuffer b = BUFFERS[i];
            user(i < 6 ? gmp : null, () -> echoed(address, b));
        }
        user(gmp, () -> {
            slow.setDeadlineAfter(Duration.ofNanos(300_000));
            try {
                slow.accept().close();
            } catch (SocketTimeoutException e) {
                Thread.onSpinWait();
            }
        });
        fill(Long.parseLong(args[0]) * 1_000_000_000);
        stop = true;
        l.close();
        long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS); // For all: many may wait for one thing.
        boolean ended = true;
        for (CountDownLatch living : LIVING) {
            ended &= living.await(patience - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        if (!ended || UNEXPECTED.get() != null) {
            System.out.println("hangs: " + !ended + "\n" + gmp.dump());
            if (UNEXPECTED.get() != null) {
                UNEXPECTED.get().printStackTrace(System.out);
            }
            Runtime.getRuntime().halt(1);
        }
        slow.close();
        String left = gmp.close(Duration.ofSeconds(PATIENCE_SECONDS));
        long after = descriptors();
        System.out.printf("lost %b, left [%s]%n", after > before, left);
        System.err.printf("done %d, no memory %d, descriptors %d, %d%n", DONE.get(), NO_MEMORY.get(), before, after);
        System.exit(0);
    }
}
