// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.gmp4j.check.Invariants;
import org.gmp4j.metrics.Metrics;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/** Programs of {@link DiagnosisTest}. */
final class DiagnosisProgram {
    private static final String ALL = "org.gmp4j:type=Gmp,*";

    private DiagnosisProgram() {
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "panic" -> Gmp.main(DiagnosisProgram::panic);
            case "deadlock" -> Gmp.main(() -> Chan.make().recv());
            case "nothing" -> nothing();
            case "bean" -> bean();
            case "odd-names" -> oddNames();
            case "late-bean" -> lateBean();
            case "broken" -> broken();
            case "work" -> Gmp.main(DiagnosisProgram::work);
            case "built" -> built(Gmp.builder().procs(1));
            case "built-badly" -> built(Gmp.builder().procs(1).debug("nonsense=1"));
            case "cooperative" -> cooperative();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void panic() {
        Go.go(() -> {
            Object _ = Chan.make().recv();
        });
        Go.gosched();
        throw new IllegalStateException("of the test");
    }

    private static void work() {
        Chan<Integer> c = Chan.make();
        for (int i = 0; i < 4; i++) {
            Go.go(() -> {
                for (int k = 0; k < 20_000; k++) {
                    c.send(k);
                }
            });
        }
        for (int i = 0; i < 80_000; i++) {
            Integer _ = c.recv();
        }
        int _ = Go.gomaxprocs(3);
        System.out.println("done");
    }

    /** Nothing of JMX and of HTTP is loaded, what looks for it but for one class, and that later. */
    private static void nothing() throws InterruptedException {
        try (Gmp gmp = Gmp.builder().build()) {
            gmp.run(() -> Go.sleep(Duration.ofMillis(1)));
        }
        System.out.println("ended");
    }

    private static Set<ObjectName> names(MBeanServer server) throws Exception {
        return new TreeSet<>(server.queryNames(new ObjectName(ALL), null));
    }

    private static void bean() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try (Gmp gmp = Gmp.builder().procs(2).debug("jmx=1").build()) {
            ObjectName name = names(server).iterator().next();
            System.out.println(server.getAttribute(name, "Procs"));
            gmp.go(() -> Go.sleep(Duration.ofMillis(1)));
            System.out.println(server.getAttribute(name, "Metrics").toString().contains("/sched/gomaxprocs:threads"));
            System.out.println(((String) server.invoke(name, "prometheus", null, null)).contains("gmp_sched_gomaxprocs_threads"));
            Chan<Integer> c = Chan.make();
            gmp.go(c::recv);
            while (!((String) server.invoke(name, "dump", null, null)).contains("[chan receive]")) {
                Thread.onSpinWait();
            }
            c.close();
        }
        System.out.println(names(server));
    }

    /** Any name goes, also twice. */
    private static void oddNames() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (String odd : new String[] {"plain", "a,b", "x:y=*?\\\"\nz"}) {
            try (Gmp one = Gmp.builder().procs(1).name(odd).debug("jmx=1").build();
                    Gmp two = Gmp.builder().procs(2).name(odd).debug("jmx=1").build()) {
                one.run(Go::gosched);
                two.run(Go::gosched);
                StringBuilder procs = new StringBuilder();
                for (ObjectName name : names(server)) {
                    procs.append(server.getAttribute(name, "Procs")).append(server.getAttribute(name, "Name").equals(odd)).append(' ');
                }
                System.out.println(procs);
                Metrics.prometheus().lines().filter(l -> l.startsWith("gmp_sched_gomaxprocs_threads{")).forEach(System.out::println);
            }
        }
        System.out.println(names(server));
    }

    private static void lateBean() throws Exception {
        try (Gmp gmp = Gmp.builder().procs(2).build()) {
            gmp.run(Go::gosched);
            MBeanServer server = ManagementFactory.getPlatformMBeanServer(); // Only now, and nothing runs.
            while (names(server).isEmpty()) {
                Thread.sleep(10);
            }
            System.out.println(server.getAttribute(names(server).iterator().next(), "Procs"));
        }
    }

    private static void built(Gmp.Builder builder) {
        try (Gmp gmp = builder.build()) {
            gmp.run(() -> System.out.println("ran"));
        }
    }

    /** An idle M that says it has a goroutine (M1). */
    private static void broken() throws Exception {
        Gmp gmp = Gmp.builder().procs(1).debug("invariants=1").build();
        Scheduler s = gmp.call(() -> GStack.current().scheduler());
        long gp = gmp.call(() -> GStack.current().gp()); // Dead by now.
        while (!Invariants.sample(s).isEmpty() || Schedt.MIDLE.get(s.sched) == 0) {
            Thread.sleep(10);
        }
        M.CURG.setOpaque(Schedt.MIDLE.get(s.sched), gp);
        Thread.sleep(Duration.ofMinutes(5));
    }

    /** A loop that calls nothing keeps the only P, unless its thread falls asleep, though it was told to yield, and others wait. */
    private static void cooperative() throws InterruptedException {
        try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofNanos(200_000)).debug("asyncpreemptoff=1").build()) {
            AtomicBoolean end = new AtomicBoolean();
            gmp.go(() -> {
                Go.go(Go::gosched);
                while (!end.get()) {
                    Thread.onSpinWait();
                }
            });
            while (number(gmp, "/sched/preemptions/asked:events") == 0) {
                Thread.sleep(1);
            }
            Thread.sleep(100); // Some hundred quanta.
            System.out.println("asked true, taken " + number(gmp, "/sched/stalls/ran:events"));
            end.set(true);
        }
    }

    private static long number(Gmp gmp, String name) {
        return (long) gmp.metrics().read(name);
    }
}
