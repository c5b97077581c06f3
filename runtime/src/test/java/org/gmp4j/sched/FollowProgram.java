// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.affinity.Affinity;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;

/** Changes the CPUs of its own process, and looks in {@code /proc} where the threads of the Ps may run then. */
final class FollowProgram {
    private static final long PATIENCE = 15_000_000_000L;
    /** On CPUs that are emulated. */
    private static final long LONG_PATIENCE = 60_000_000_000L;
    /** How often in a row all must be right: Ms go from P to P meanwhile. */
    private static final int SAMPLES = 20;

    private FollowProgram() {
    }

    public static void main(String[] args) throws IOException {
        if (args.length > 0) {
            hotplug();
            return;
        }
        BitSet all = org.gmp4j.ffi.Affinity.get(OsThread.getpid());
        int a = all.nextSetBit(0);
        int b = all.nextSetBit(a + 1);
        AtomicBoolean stop = new AtomicBoolean();
        Gmp byHand = Gmp.builder().procs(2).affinity(Affinity.compact()).build();
        Gmp counted = Gmp.builder().affinity(Affinity.parse("compact:reserve=" + (all.cardinality() - 2))).build();
        Gmp reserving = Gmp.builder().affinity(Affinity.parse("none:reserve=" + (all.cardinality() - 1))).build();
        List<Gmp> gmps = List.of(byHand, counted, reserving);
        for (Gmp gmp : gmps) {
            for (int i = 0; i < 4; i++) {
                gmp.go(() -> {
                    while (!stop.get()) {
                        Go.gosched();
                    }
                });
            }
        }
        Scheduler[] s = gmps.stream().map(g -> {
            Scheduler[] of = new Scheduler[1];
            g.run(() -> of[0] = GStack.current().scheduler());
            return of[0];
        }).toArray(Scheduler[]::new);
        String first = one(a);
        String second = one(b);
        await("at first", s, List.of(List.of(first, second), List.of(first, second), List.of(first)), PATIENCE);
        BitSet only = new BitSet();
        only.set(b);
        org.gmp4j.ffi.Affinity.set(OsThread.getpid(), only); // The first thread alone, which says what the process may use.
        await("on one CPU", s, List.of(List.of(second, second), List.of(second), List.of(second)), PATIENCE);
        for (int tid : threads()) { // As taskset -a: the Ms may run anywhere now.
            try {
                org.gmp4j.ffi.Affinity.set(tid, all);
            } catch (org.gmp4j.ffi.NativeException e) {
                continue; // It has ended.
            }
        }
        await("on all again", s, List.of(List.of(first, second), List.of(first, second), List.of(first)), PATIENCE);
        stop.set(true);
        gmps.forEach(Gmp::close);
    }

    /** The last CPU goes offline and comes back: as root, on a machine that is there for it. */
    private static void hotplug() throws IOException {
        BitSet all = org.gmp4j.ffi.Affinity.get(OsThread.getpid());
        int a = all.nextSetBit(0);
        int b = all.length() - 1;
        AtomicBoolean stop = new AtomicBoolean();
        Gmp gmp = Gmp.builder().procs(2).affinity(Affinity.cpus(b + "," + a)).build();
        for (int i = 0; i < 4; i++) {
            gmp.go(() -> {
                while (!stop.get()) {
                    Go.gosched();
                }
            });
        }
        Scheduler[] s = new Scheduler[1];
        gmp.run(() -> s[0] = GStack.current().scheduler());
        Path online = Path.of("/sys/devices/system/cpu/cpu" + b + "/online");
        await("at first", s, List.of(List.of(one(b), one(a))), LONG_PATIENCE);
        Files.writeString(online, "0");
        await("one CPU is offline", s, List.of(List.of(one(a), one(a))), LONG_PATIENCE);
        Files.writeString(online, "1");
        await("it is back", s, List.of(List.of(one(b), one(a))), LONG_PATIENCE);
        stop.set(true);
        gmp.close();
    }

    private static String one(int cpu) {
        return String.valueOf(cpu);
    }

    private static List<Integer> threads() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/task"))) {
            return all.map(p -> Integer.valueOf(p.getFileName().toString())).toList();
        }
    }

    /** Until there are as many Ps as that, and the threads of all of them, several times in a row, have these CPUs. */
    private static void await(String when, Scheduler[] s, List<List<String>> wanted, long patience) throws IOException {
        long end = System.nanoTime() + patience;
        List<TreeMap<Integer, String>> seen = new ArrayList<>();
        String wrong = "nothing looked at";
        for (int right = 0; !wrong.isEmpty() && System.nanoTime() < end;) {
            boolean good = true;
            for (int i = 0; i < s.length; i++) {
                if (right == 0 && i == 0) {
                    seen.clear();
                    Stream.of(s).forEach(each -> seen.add(new TreeMap<>()));
                }
                TreeMap<Integer, String> now = cpus(s[i]);
                seen.get(i).putAll(now); // Now and then a P is on its way from one M to another.
                good &= s[i].gomaxprocs() == wanted.get(i).size();
                for (int p : now.keySet()) {
                    good &= p < wanted.get(i).size() && now.get(p).equals(wanted.get(i).get(p));
                }
            }
            right = good ? right + 1 : 0;
            boolean all = right >= SAMPLES && seen.stream().map(of -> List.copyOf(of.values())).toList().equals(wanted);
            wrong = all ? "" : seen.toString();
        }
        System.out.println(when + (wrong.isEmpty() ? ": right" : ": " + wrong + " instead of " + wanted));
    }

    /** By P that an M has. */
    private static TreeMap<Integer, String> cpus(Scheduler s) throws IOException {
        TreeMap<Integer, String> cpus = new TreeMap<>();
        for (Machine m : s.machines()) {
            long pp = M.P.getOpaque(m.mp);
            if (pp != 0) {
                Path status = Path.of("/proc/self/task/" + M.PROCID.get(m.mp) + "/status");
                try {
                    cpus.put(P.ID.get(pp), Files.readAllLines(status).stream().filter(l -> l.startsWith("Cpus_allowed_list:")).findFirst()
                            .orElse("").replaceFirst("^[^\t]*\t", ""));
                } catch (NoSuchFileException e) {
                    continue; // It has ended.
                }
            }
        }
        return cpus;
    }
}
