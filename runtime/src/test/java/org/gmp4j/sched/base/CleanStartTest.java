// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.affinity.Affinity;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.Signals;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads inherit settings by the kernel: an M inherits none of a stranger's, no other thread those of an M. */
class CleanStartTest {
    @SuppressWarnings("restricted") // libc
    static final class Program {
        private static final String CPUS = "Cpus_allowed_list:";
        private static final String BLOCKED = "SigBlk:";
        private static final int SIGUSR2 = 12;
        private static final int SIG_BLOCK = 0;
        private static final int CLONE_FS = 0x200;

        private Program() {
        }

        private static MethodHandle libc(String name, FunctionDescriptor type) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
        }

        private static String own(String key) {
            return of(Path.of("/proc/thread-self/status"), key);
        }

        private static String of(Path status, String key) {
            try {
                return Files.readAllLines(status).stream().filter(l -> l.startsWith(key)).findFirst().orElseThrow()
                        .substring(key.length()).strip();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Names and CPUs. */
        private static Map<String, String> threads() throws IOException {
            Map<String, String> cpus = new TreeMap<>();
            try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path task : tasks) {
                    try {
                        cpus.put(of(task.resolve("status"), "Name:"), of(task.resolve("status"), CPUS));
                    } catch (UncheckedIOException ended) {
                        continue;
                    }
                }
            }
            return cpus;
        }

        private static BitSet cpu(int n) {
            BitSet one = new BitSet();
            one.set(n);
            return one;
        }

        /** The last of the process's CPUs, alone. */
        private static BitSet lastCpu() {
            return cpu(org.gmp4j.ffi.Affinity.get(0).length() - 1);
        }

        private static void same(String what, Object expected, Object found) {
            if (!expected.equals(found)) {
                System.out.println(what + " is " + found + ", expected " + expected);
            }
        }

        private static String blocked;

        public static void main(String[] args) throws Throwable {
            blocked = own(BLOCKED);
            switch (args[0]) {
                case "out" -> out(own(CPUS));
                case "unplaced" -> unplaced(own(CPUS));
                case "in" -> in(own(CPUS));
                case "locked" -> locked();
                case "jdk" -> jdk();
                default -> throw new IllegalArgumentException(args[0]);
            }
            System.out.println("done");
        }

        /** Threads, pools and processes of placed goroutines. */
        private static void out(String all) throws Exception {
            int slack = OsThread.timerSlack();
            try (Gmp gmp = Gmp.builder().procs(1).affinity(Affinity.compact()).build()) { // One P: no thread moves.
                gmp.call(() -> {
                    Go.lockOSThread();
                    BitSet pinned = org.gmp4j.ffi.Affinity.get(0);
                    same("number of the M's CPUs", 1, pinned.cardinality());
                    started("thread", all, slack);
                    try (ExecutorService pool = Executors.newFixedThreadPool(1)) {
                        same("pool", all, pool.submit(() -> own(CPUS)).get());
                    }
                    same("common pool", all, ForkJoinPool.commonPool().submit(() -> own(CPUS)).get());
                    for (int i = 0; i < 2; i++) {
                        same("process", CPUS + "\t" + all, process("grep", CPUS, "/proc/self/status"));
                    }
                    same("the M", pinned, org.gmp4j.ffi.Affinity.get(0));
                    same("the M's slack", 1, OsThread.timerSlack());
                    // What a goroutine sets itself is inherited, as from any thread.
                    BitSet other = cpu(pinned.get(0) ? 1 : 0);
                    org.gmp4j.ffi.Affinity.set(0, other);
                    started("thread of one that moved", other.toString().replaceAll("[{}]", ""), slack);
                    return null;
                });
                gmp.call(() -> {
                    started("another's thread", all, slack);
                    return null;
                });
            }
            same("of the main thread", all, own(CPUS));
            Map<String, String> threads = threads();
            threads.values().removeIf(all::equals);
            same("restricted threads", Map.of(), threads);
        }

        /** Without a placement: a timer slack is all that an M has of its own. */
        private static void unplaced(String all) throws Exception {
            int slack = OsThread.timerSlack();
            try (Gmp gmp = Gmp.builder().procs(1).build()) {
                gmp.call(() -> {
                    Go.lockOSThread();
                    same("the M's slack", 1, OsThread.timerSlack());
                    started("thread", all, slack);
                    same("slack of a process", "" + slack, process("cat", "/proc/self/timerslack_ns"));
                    same("the M's slack afterwards", 1, OsThread.timerSlack());
                    OsThread.setTimerSlack(2L * slack); // What a goroutine sets itself is inherited, and stays.
                    started("thread of one that set it", all, 2 * slack);
                    same("its own", 2 * slack, OsThread.timerSlack());
                    return null;
                });
            }
        }

        private static void started(String what, String cpus, int slack) throws InterruptedException {
            Thread t = Thread.ofPlatform().start(() -> {
                same(what, cpus, own(CPUS));
                same("blocked signals of a " + what, blocked, own(BLOCKED));
                same("policy of a " + what, OsThread.SCHED_OTHER, OsThread.scheduler(0));
                same("slack of a " + what, slack, OsThread.timerSlack());
            });
            t.join();
        }

        private static String process(String... command) throws IOException {
            Process p = new ProcessBuilder(command).start();
            try (var out = p.inputReader()) {
                return out.readLine();
            }
        }

        /** Of a thread that a stranger has made the runtime start: it may still be about to begin. */
        private static void servant(String name, String cpus, int slack) throws Exception {
            Path task = null;
            try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path t : tasks) {
                    task = Files.readString(t.resolve("comm")).strip().equals(name) ? t : task;
                }
            }
            if (task == null) {
                System.out.println("there is no " + name);
                return;
            }
            int tid = Integer.parseInt(task.getFileName().toString());
            Path itsSlack = Path.of("/proc/" + tid + "/timerslack_ns");
            for (int i = 0; i < 500 && OsThread.scheduler(tid) != OsThread.SCHED_OTHER; i++) {
                Thread.sleep(10);
            }
            for (int i = 0; i < 500 && !of(task.resolve("status"), CPUS).equals(cpus); i++) {
                Thread.sleep(10); // It puts them on one after the other.
            }
            same("CPUs of " + name, cpus, of(task.resolve("status"), CPUS));
            same("policy of " + name, OsThread.SCHED_OTHER, OsThread.scheduler(tid));
            same("slack of " + name, "" + slack, Files.readString(itsSlack).strip());
        }

        /** Ms, and sysmon, that begin with a thread of others. */
        private static void in(String cpus) throws Throwable {
            Thread stranger = new Thread(() -> {
                try {
                    MethodHandle sigmask = libc("pthread_sigmask", FunctionDescriptor.of(ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment set = arena.allocate(128);
                        set.set(ValueLayout.JAVA_LONG, 0, 1L << Signals.SIGURG - 1 | 1L << SIGUSR2 - 1);
                        int _ = (int) sigmask.invokeExact(SIG_BLOCK, set, MemorySegment.NULL);
                    }
                    org.gmp4j.ffi.Affinity.set(0, lastCpu());
                    OsThread.setScheduler(0, OsThread.SCHED_BATCH, 0);
                    LongChan unusedChan = LongChan.make(1);
                    Timer unusedTimer = Time.afterFunc(Duration.ofHours(1), () -> { });
                    servant("gmp-long-chans", cpus, OsThread.timerSlack());
                    servant("gmp4j-timers", cpus, 1);
                    Gmp gmp = Gmp.builder().procs(2).build();
                    for (int i = 0; i < 2; i++) {
                        gmp.call(() -> {
                            Go.lockOSThread(); // It ends with its thread: the next is on another.
                            same("CPUs", cpus, own(CPUS));
                            same("blocked signals", blocked, own(BLOCKED));
                            same("policy", OsThread.SCHED_OTHER, OsThread.scheduler(0));
                            return null;
                        });
                    }
                    same("sysmon's CPUs", cpus, threads().get("gmp0-sysmon"));
                    gmp.close();
                } catch (Throwable t) {
                    throw new AssertionError(t);
                }
            });
            stranger.start();
            stranger.join();
        }

        /** What a locked goroutine does to its thread, and an M cannot undo, reaches no other M: Go's own test. */
        private static void locked() throws Throwable {
            Path before = Path.of("/proc/thread-self/cwd").toRealPath();
            try (Gmp gmp = Gmp.builder().procs(2).build()) {
                gmp.call(() -> {
                    Go.lockOSThread(); // It ends with its thread.
                    try (Arena arena = Arena.ofConfined()) {
                        int unshared = (int) libc("unshare", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                                .invokeExact(CLONE_FS);
                        int moved = (int) libc("chdir", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS))
                                .invokeExact(arena.allocateFrom("/proc"));
                        same("unshare, chdir", 0, unshared | moved);
                    } catch (Throwable t) {
                        throw new AssertionError(t);
                    }
                    org.gmp4j.ffi.Affinity.set(0, lastCpu());
                    same("own directory", Path.of("/proc"), Path.of("/proc/thread-self/cwd").toRealPath());
                    Chan<Path> there = Chan.make();
                    for (int i = 0; i < 3; i++) { // Each on an M of its own; the first is started by this one.
                        Go.go(() -> {
                            Go.lockOSThread();
                            try {
                                there.send(Path.of("/proc/thread-self/cwd").toRealPath());
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
                        same("directory of another", before, there.recv());
                    }
                    return null;
                });
            }
        }

        private static void jdk() {
            try (Gmp gmp = Gmp.builder().procs(1).affinity(Affinity.compact()).build()) {
                gmp.run(() -> {
                    BitSet pinned = org.gmp4j.ffi.Affinity.get(0);
                    try {
                        Thread.ofPlatform().start(() -> same("thread", pinned, org.gmp4j.ffi.Affinity.get(0))).join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
            }
        }
    }

    private static void program(ChildJvm jvm, String what) {
        ChildJvm.Result r = jvm.run(what);
        assertEquals("done\n", r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    private static void needTwoCpus() {
        BitSet cpus = org.gmp4j.ffi.Affinity.get(0);
        assumeTrue(cpus.get(0) && cpus.get(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"out", "unplaced", "in", "locked"})
    void staysWhereItIs(String what) {
        needTwoCpus();
        program(new ChildJvm(Program.class).with("-XX:TieredStopAtLevel=4"), what);
    }

    /** The switch: the kernel's own way. */
    @Test
    void byTheJdk() {
        needTwoCpus();
        program(new ChildJvm(Program.class).with("-Dgmp.start=jdk"), "jdk");
    }
}
