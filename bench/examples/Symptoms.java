// SPDX-License-Identifier: Apache-2.0
// ./gmp run --dashboard 8080 bench/examples/Symptoms.java NAME [SECONDS]
// Provokes one symptom, and lets it last, so that one can look at it: runtime/DIAGNOSING.md walks through them. NAME is
//   idle      Ps are idle beside a long local queue
//   spin      a thread spins without work
//   global    the global queue grows
//   stuck     goroutines that never move
//   tail      a service in which most requests wait for microseconds, and a few for long
//   tail-10ms the same, mended by a shorter quantum

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;

public class Symptoms {
    private static long end;

    public static void main(String[] args) {
        String name = args.length > 0 ? args[0] : "";
        end = System.nanoTime() + Duration.ofSeconds(args.length > 1 ? Long.parseLong(args[1]) : 30).toNanos();
        switch (name) {
            case "idle" -> idle();
            case "spin" -> spin();
            case "global" -> global();
            case "stuck" -> stuck();
            case "tail" -> tail(Duration.ofSeconds(1));
            case "tail-10ms" -> tail(Duration.ofMillis(10));
            default -> {
                System.err.println("Symptoms: name one of idle, spin, global, stuck, tail, tail-10ms");
                System.exit(2);
            }
        }
    }

    private static boolean over() {
        return System.nanoTime() - end >= 0;
    }

    private static void compute(Duration d) {
        long until = System.nanoTime() + d.toNanos();
        while (System.nanoTime() < until && !over()) {
            Thread.onSpinWait();
        }
    }

    /** From outside, so that it takes no P. */
    private static void waitOutside() {
        while (!over()) {
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** There are four Ps, and one thread to have them: it is busy, and nobody takes what stands in the queue of its P. */
    private static void idle() {
        try (Gmp gmp = Gmp.builder().procs(4).maxThreads(1).quantum(Duration.ofMinutes(1)).build()) {
            gmp.run(() -> {
                for (int i = 0; i < 100; i++) {
                    Go.go(() -> compute(Duration.ofMillis(1)));
                }
                while (!over()) {
                    compute(Duration.ofSeconds(1));
                }
            });
        }
    }

    /** The spin policy asks for it: a thread that finds nothing looks on. */
    private static void spin() {
        try (Gmp gmp = Gmp.builder().procs(4).spin(SpinPolicy.busy()).build()) {
            Chan<Integer> never = Chan.make();
            gmp.go(never::recv);
            waitOutside();
            never.close();
        }
    }

    /** A thread outside starts goroutines as they come, and nobody tells it that more come than are run. */
    private static void global() {
        try (Gmp gmp = Gmp.builder().procs(2).build()) {
            while (!over()) {
                for (int i = 0; i < 200; i++) {
                    gmp.go(() -> compute(Duration.ofMillis(1)));
                }
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    /** One is locked to its thread; another waits for what nobody sends. */
    private static void stuck() {
        try (Gmp gmp = Gmp.builder().procs(4).build()) {
            Chan<Integer> never = Chan.make();
            gmp.go(never::recv);
            gmp.go(() -> {
                Go.lockOSThread();
                while (!over()) {
                    compute(Duration.ofMillis(1));
                    Go.sleep(Duration.ofMillis(1));
                }
            });
            waitOutside();
            never.close();
        }
    }

    /** Ten requests of 20 µs come in a millisecond; one that needs the CPU for 200 ms comes in a second, and has it. */
    private static void tail(Duration quantum) {
        try (Gmp gmp = Gmp.builder().procs(1).quantum(quantum).build()) {
            for (int n = 1; !over(); n++) {
                for (int i = 0; i < 10; i++) {
                    gmp.go(() -> compute(Duration.ofNanos(20_000)));
                }
                if (n % 1000 == 0) {
                    gmp.go(() -> compute(Duration.ofMillis(200)));
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }
}
