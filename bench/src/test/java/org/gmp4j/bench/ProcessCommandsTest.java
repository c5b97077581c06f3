// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code gmp leaks}, {@code profile}, {@code trace} and {@code set} of a running process. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProcessCommandsTest {
    @TempDir
    private Path dir;

    /** What a command has said. */
    private record Said(int code, String out, String err) {
        void is(String expected) {
            assertEquals(new Said(0, expected, ""), this);
        }

        /** One sentence, and nothing else. */
        void refused(String sentence) {
            assertEquals(2, code, this::toString);
            assertEquals("", out);
            assertEquals(1, err.lines().count(), this::toString);
            assertTrue(err.startsWith("gmp: " + sentence), this::toString);
        }
    }

    private static Said gmp(Object... args) {
        CommandLineRun run = CommandLineRun.of(Stream.of(args).map(Object::toString).toArray(String[]::new));
        return new Said(run.code(), run.out(), run.err());
    }

    /** With a goroutine that runs all the time, and one that nothing can wake; until its input ends. */
    static final class Target {
        private static volatile boolean over;
        /** Without a goroutine it would be closed when the collector finds no reference to it. */
        private static Gmp two;

        private Target() {
        }

        private static void leak() {
            Integer _ = Chan.<Integer>make().recv();
        }

        private static void work() {
            while (!over) {
                Thread.onSpinWait();
            }
        }

        public static void main(String[] args) throws Exception {
            Gmp one = Gmp.builder().procs(2).name("one").build();
            if (args.length > 0) {
                two = Gmp.builder().procs(2).name("two").build();
            }
            one.go(Target::leak);
            one.go(Target::work);
            System.out.println("ready");
            int _ = System.in.read();
        }
    }

    private static Process start(String... args) throws Exception {
        List<String> line = ChildJava.command(System.getProperty("java.class.path"), Target.class.getName());
        line.addAll(List.of(args));
        Process p = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertEquals("ready", p.inputReader().readLine());
        return p;
    }

    private static boolean isGzip(Path file) throws Exception {
        return (ByteBuffer.wrap(Files.readAllBytes(file)).getShort() & 0xffff) == 0x1f8b;
    }

    @Test
    void oneProcess() throws Exception {
        Process p = start();
        long pid = p.pid();
        try {
            Said leaks = gmp("leaks", pid);
            assertTrue(leaks.out.startsWith("goroutineleak profile: total 1\n\n1 goroutine [chan receive]:\n"), leaks::toString);
            assertTrue(leaks.out.contains("Target.leak("), leaks::toString);
            gmp("leaks", pid, "--pprof", dir.resolve("leaks")).is("");
            assertTrue(isGzip(dir.resolve("leaks")));

            set(pid);
            profile(pid);
            trace(pid);
            twoAtOnceAndTheEnd(p);
        } finally {
            p.destroyForcibly().waitFor();
        }
    }

    private static void set(long pid) {
        gmp("set", pid).is("procs=2\nquantum=10ms\n");
        gmp("set", pid, "quantum=1ms", "procs=3").is("procs=3\nquantum=1ms\n");
        gmp("set", pid, "procs=1", "quantum=1").refused("quantum is \"1\": use a duration from 200us to 60s, ");
        gmp("set", pid, "speed=9").refused("\"speed\" cannot be changed: only procs and quantum can; ");
        gmp("set", pid, "--scheduler", "x", "procs=1").refused("process " + pid + " has no scheduler \"x\", only one; ");
        gmp("set", pid, "--scheduler", "one").is("procs=3\nquantum=1ms\n");
    }

    private void profile(long pid) throws Exception {
        Said cpu;
        do {
            cpu = gmp("profile", pid, "--seconds", 0.05);
            assertEquals(0, cpu.code, cpu::toString);
            assertTrue(cpu.err.isEmpty() || cpu.err.equals("gmp: nothing was seen in that time.\n"), cpu::toString); // On a busy machine.
        } while (!cpu.out.contains("Target.work("));
        assertTrue(cpu.out.startsWith("cpu profile\n\n"), cpu::toString);
        Path file = dir.resolve("block");
        gmp("profile", pid, "--kind", "block", "--seconds", 0.01, "--out", file).is("");
        assertTrue(isGzip(file));
        Said mutex = gmp("profile", pid, "--kind", "mutex", "--seconds", 0.01);
        assertEquals(new Said(0, "mutex profile\n\n", "gmp: nothing was seen in that time; of the JDK's own locks it tells nothing, but "
                + "'--kind block' has who waits for them.\n"), mutex);
        gmp("profile", pid, "--kind", "heap").refused("there is no profile \"heap\": use cpu, block or mutex; ");
        gmp("profile", pid, "--seconds", 0).refused("seconds is 0.0: use more than 0, and at most 3600; ");
        gmp("profile", pid, "--seconds", 0.01, "--out", dir).refused("cannot write " + dir + ": Is a directory; ");
    }

    private void trace(long pid) throws Exception {
        Path file = dir.resolve("trace");
        Said kept = gmp("trace", pid, "--seconds", 0.01, "--out", file);
        assertEquals("0", kept.code + kept.err);
        assertTrue(kept.out.contains(" events, 1 scheduler, "), kept::toString);
        Said again = gmp("trace", file);
        assertEquals(kept, again);
        Said text = gmp("trace", pid, "--seconds", 0.01, "--text");
        assertTrue(text.code == 0 && text.out.lines().count() > 1, text::toString);
        gmp("trace", pid, "--seconds", 0.01, "--out", dir + "/no/t").refused("cannot write " + dir + "/no/t: there is no such folder; ");
        gmp("trace", pid, "--seconds", 4000).refused("seconds is 4000.0: use more than 0, and at most 3600; ");
        gmp("trace", 9_999_999_999L).refused("there is no process 9999999999; ");
        gmp("trace", "x", "--seconds", 1).refused("\"x\" is no process id; ");
    }

    /** A second trace is refused while the first runs, which the end of the process then ends. */
    private void twoAtOnceAndTheEnd(Process p) throws Exception {
        Path file = dir.resolve("long");
        Said[] first = new Said[1];
        Thread t = new Thread(() -> {
            do { // Until it was the first.
                first[0] = gmp("trace", p.pid(), "--seconds", 3600, "--out", file);
            } while (first[0].err.contains("traced already"));
        });
        t.start();
        Said second;
        do {
            second = gmp("trace", p.pid(), "--seconds", 0.01);
        } while (second.code == 0);
        second.refused("process " + p.pid() + ": this Gmp is being traced already; ");
        p.destroyForcibly().waitFor();
        t.join();
        first[0].refused("process " + p.pid() + ", or a scheduler of it, has ended; ");
        assertFalse(Files.exists(file), "an empty file is left");
        gmp("leaks", p.pid()).refused("there is no process " + p.pid() + "; ");
    }

    @Test
    void twoSchedulers() throws Exception {
        Process p = start("two");
        try {
            gmp("set", p.pid(), "procs=1").refused("process " + p.pid() + " has several schedulers: name one of one, two by --scheduler; ");
            gmp("set", p.pid(), "procs=1", "--scheduler", "two").is("procs=1\nquantum=10ms\n");
            gmp("set", p.pid(), "--scheduler", "one").is("procs=2\nquantum=10ms\n");
            Path file = dir.resolve("cpu");
            gmp("profile", p.pid(), "--seconds", 0.01, "--out", file).is("");
            assertTrue(isGzip(file) && isGzip(dir.resolve("cpu.two")));
            Said both = gmp("profile", p.pid(), "--seconds", 0.01);
            assertTrue(both.out.startsWith("scheduler one\ncpu profile\n"), both::toString);
            assertTrue(both.out.contains("scheduler two\ncpu profile\n"), both::toString);
        } finally {
            p.destroyForcibly().waitFor();
        }
    }
}
