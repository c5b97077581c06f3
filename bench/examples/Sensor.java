// SPDX-License-Identifier: Apache-2.0
// cc -O2 -shared -fPIC -pthread -I c-shims/include -o /tmp/libsensor.so c-shims/examples/sensor.c
// ./gmp run bench/examples/Sensor.java /tmp/libsensor.so [SAMPLES]
// Four threads of a C library measure; each hands its samples to a goroutine through a ring and wakes it with gmp_ready,
// without entering the JVM. The goroutines wait without a thread. On 1, 2 and 8 Ps.

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.NativeEvent;
import org.gmp4j.sync.WaitGroup;

public class Sensor {
    private static final int SENSORS = 4;

    // struct sensor of sensor.c.
    private static final long WRITTEN = 0;
    private static final long READ = 128;
    private static final long RING = 256;
    private static final int SLOTS = 1024;
    private static final long SIZE = RING + SLOTS * Long.BYTES;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MethodHandle open;
    private final MethodHandle close;

    private Sensor(Path library) {
        SymbolLookup lib = SymbolLookup.libraryLookup(library, Arena.global());
        Linker linker = Linker.nativeLinker();
        open = linker.downcallHandle(lib.findOrThrow("sensor_open"), FunctionDescriptor.of(ValueLayout.ADDRESS,
                ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
        close = linker.downcallHandle(lib.findOrThrow("sensor_close"),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    }

    public static void main(String[] args) {
        Sensor library = new Sensor(Path.of(args[0]).toAbsolutePath());
        long samples = args.length > 1 ? Long.parseLong(args[1]) : 1_000_000;
        for (int procs : new int[] {1, 2, 8}) {
            long start = System.nanoTime();
            AtomicLong right = new AtomicLong();
            AtomicLong woken = new AtomicLong();
            try (Gmp gmp = Gmp.builder().procs(procs).build()) {
                gmp.run(() -> {
                    WaitGroup all = new WaitGroup();
                    for (int i = 0; i < SENSORS; i++) {
                        all.go(() -> woken.addAndGet(library.receive(samples, right)));
                    }
                    all.await();
                });
            }
            System.out.printf("%d Ps: %d sensors, %,d samples each (%s), %,d times woken from C, %.0f ms%n", procs, SENSORS,
                    samples, right.get() == SENSORS ? "right" : "WRONG", woken.get(), (System.nanoTime() - start) / 1e6);
            if (right.get() != SENSORS) {
                System.exit(1);
            }
        }
    }

    /** Opens a sensor and takes all its samples; how often its thread found us waiting. */
    private long receive(long samples, AtomicLong right) {
        try (NativeEvent event = new NativeEvent()) {
            MemorySegment s = (MemorySegment) open.invokeExact(event.address(), NativeEvent.function(), samples);
            if (s.address() == 0) {
                throw new IllegalStateException("no memory for a sensor, or no thread");
            }
            s = s.reinterpret(SIZE);
            long sum = 0;
            for (long n = 0; n < samples;) {
                event.await();
                for (long end = (long) LONG.getAcquire(s, WRITTEN); n < end; n++) {
                    sum += s.get(ValueLayout.JAVA_LONG, RING + n % SLOTS * Long.BYTES);
                }
                LONG.setRelease(s, READ, n);
            }
            long expected = 0;
            for (long n = 0; n < samples; n++) {
                expected += n * n;
            }
            if (sum == expected) {
                right.incrementAndGet();
            }
            MemorySegment sensor = s;
            return Go.blocking(() -> close(sensor)); // Joins the thread: from then on nobody fires the event.
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private long close(MemorySegment s) {
        try {
            return (long) close.invokeExact(s);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
