// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.gmp4j.ffi.Affinity;
import org.gmp4j.ffi.NativeException;

/** Processes: on which CPU they start, and what the kernel tells of them under {@code /proc}. */
public final class Proc {
    /** USER_HZ: the same on all that Linux runs on. */
    private static final double TICKS = 100;

    private static final int NICE = 16; // of what follows the name
    private static final int USER = 11;
    private static final int SYSTEM = 12;
    private static final int CHILDREN_SYSTEM = 14;
    private static final int IDLE = 4; // of a CPU
    private static final int IOWAIT = 5;
    private static final int STEAL = 8;
    /** Files that a JVM has open itself, with much to spare. */
    private static final int OTHER_FILES = 200;
    private static final String OPEN_FILES = "Max open files";

    private Proc() {
    }

    /**
     * What a process has used. Switches are those of threads that still live, CPU time is that of all.
     *
     * @param user CPU seconds in its own code
     * @param system CPU seconds in the kernel
     * @param voluntary context switches of threads that went to sleep
     * @param involuntary context switches of threads that lost their CPU
     * @param threads all that live
     * @param carriers the threads of these that run goroutines or virtual threads; all, where their names do not say so
     */
    public record Use(double user, double system, long voluntary, long involuntary, int threads, int carriers) {
        /** Returns the use since {@code begin} was taken: differences, except for the threads. */
        public Use since(Use begin) {
            return new Use(user - begin.user, system - begin.system, Math.max(0, voluntary - begin.voluntary),
                    Math.max(0, involuntary - begin.involuntary), threads, carriers);
        }
    }

    /** Starts one on one of this thread's CPUs: a process inherits them from the thread that starts it. */
    public static Process start(ProcessBuilder b, int cpu) throws IOException {
        BitSet one = new BitSet();
        one.set(cpu);
        return start(b, one);
    }

    /** Starts one on some CPUs. */
    public static Process start(ProcessBuilder b, BitSet cpus) throws IOException {
        BitSet mine = Affinity.get(0);
        Affinity.set(0, cpus);
        try {
            return b.start();
        } finally {
            Affinity.set(0, mine);
        }
    }

    /** Returns what a process has used up to now. */
    public static Use use(long pid) throws IOException {
        String[] stat = stat(pid);
        long voluntary = 0;
        long involuntary = 0;
        int threads = 0;
        int carriers = 0;
        List<Path> tasks;
        try (Stream<Path> all = Files.list(Path.of("/proc", "" + pid, "task"))) {
            tasks = all.toList();
        }
        for (Path task : tasks) {
            List<String> status;
            try {
                status = Files.readAllLines(task.resolve("status"));
            } catch (IOException e) {
                continue; // It has ended.
            }
            threads++;
            for (String line : status) {
                if (line.startsWith("voluntary_ctxt_switches:")) {
                    voluntary += number(line);
                } else if (line.startsWith("nonvoluntary_ctxt_switches:")) {
                    involuntary += number(line);
                } else if (line.startsWith("Name:") && isCarrier(line.substring("Name:".length()).strip())) {
                    carriers++;
                }
            }
        }
        return new Use(Long.parseLong(stat[USER]) / TICKS, Long.parseLong(stat[SYSTEM]) / TICKS, voluntary, involuntary,
                threads, carriers == 0 ? threads : carriers);
    }

    /** Returns the CPU seconds of a process and of its children that have ended. */
    public static double cpuSeconds(long pid) throws IOException {
        String[] stat = stat(pid);
        long ticks = 0;
        for (int i = USER; i <= CHILDREN_SYSTEM; i++) {
            ticks += Long.parseLong(stat[i]);
        }
        return ticks / TICKS;
    }

    /** Returns the highest resident memory of a process, in bytes. */
    public static long peakMemory(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", "" + pid, "status"))) {
            if (line.startsWith("VmHWM:")) {
                return number(line) * 1024;
            }
        }
        return 0; // It is ending.
    }

    /** Returns the names of a process's threads. */
    public static List<String> threads(long pid) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", "" + pid, "task"))) {
            for (Path task : tasks) {
                try {
                    names.add(Files.readString(task.resolve("comm")).strip());
                } catch (IOException e) {
                    continue; // It has ended.
                }
            }
        }
        return names;
    }

    /** Restricts all threads of this process to some CPUs, which threads that they start later inherit. */
    public static void confine(BitSet cpus) throws IOException {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                try {
                    Affinity.set(Integer.parseInt(task.getFileName().toString()), cpus);
                } catch (NativeException e) {
                    if (Files.exists(task)) { // Else the thread has ended.
                        throw e;
                    }
                }
            }
        }
    }

    /** Returns the sum of the seconds in which each of some CPUs was busy. */
    public static double busy(BitSet cpus) throws IOException {
        return busy(Files.readAllLines(Path.of("/proc/stat")), cpus);
    }

    /** Seconds in which a CPU did anything, the hypervisor's among them: what others than the server had is told by this. */
    public static double busy(int cpu) throws IOException {
        BitSet one = new BitSet();
        one.set(cpu);
        return busy(one);
    }

    /** Returns the busy time of the CPUs, in seconds, by the lines of {@code /proc/stat}. Older kernels have fewer figures for each CPU. */
    static double busy(List<String> stat, BitSet cpus) throws IOException {
        BitSet missing = (BitSet) cpus.clone();
        long ticks = 0;
        for (String line : stat) {
            String[] v = line.split("\\s+");
            if (v[0].matches("cpu[0-9]{1,9}") && missing.get(Integer.parseInt(v[0].substring("cpu".length())))) {
                missing.clear(Integer.parseInt(v[0].substring("cpu".length())));
                for (int i = 1; i < v.length && i <= STEAL; i++) {
                    ticks += i == IDLE || i == IOWAIT ? 0 : Long.parseLong(v[i]);
                }
            }
        }
        if (!missing.isEmpty()) {
            throw new IOException("/proc/stat has no CPU " + missing.nextSetBit(0));
        }
        return ticks / TICKS;
    }

    /** Returns whether a thread is a carrier, by the 15 characters that the kernel shows: of JDK 26 and 27 {@code ForkJoi..rker-1}. */
    private static boolean isCarrier(String name) {
        return name.startsWith("ForkJoi") || isMachine(name);
    }

    /** Returns whether a thread of that name runs goroutines. */
    public static boolean isMachine(String name) {
        return name.matches("gmp[0-9]*-M[0-9]*");
    }

    /** Returns the nice value of a process, from -20, which is first, to 19. */
    static int nice(long pid) throws IOException {
        return Integer.parseInt(stat(pid)[NICE]);
    }

    /** Returns the fields of a process from its state on; the name before it may hold any character. */
    private static String[] stat(long pid) throws IOException {
        try {
            String text = Files.readString(Path.of("/proc", "" + pid, "stat"));
            return text.substring(text.lastIndexOf(')') + 2).split(" ");
        } catch (NoSuchFileException e) {
            throw new IOException("the process " + pid + " ended early", e);
        }
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("\\D", ""));
    }

    /** Returns a sentence, without its end, if a client cannot have so many connections; else empty. */
    public static Optional<String> tooManyConnections(int connections) throws IOException {
        int wanted = connections + OTHER_FILES;
        long most = mostOpenFiles();
        return wanted <= most ? Optional.empty()
                : Optional.of("--connections=" + connections + " needs " + wanted + " open files, and " + most
                + " are allowed: 'ulimit -Hn' as root allows more");
    }

    /** Returns how many files a process may have open after it has raised its limit, as JVMs and Go's runtime do. */
    static long mostOpenFiles() throws IOException {
        return mostOpenFiles(Files.readAllLines(Path.of("/proc/self/limits")));
    }

    static long mostOpenFiles(List<String> limits) throws IOException {
        for (String line : limits) {
            if (line.startsWith(OPEN_FILES)) {
                String hard = line.substring(OPEN_FILES.length()).strip().split("\\s+")[1];
                return hard.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(hard);
            }
        }
        throw new IOException("/proc/self/limits has no line of open files");
    }
}
