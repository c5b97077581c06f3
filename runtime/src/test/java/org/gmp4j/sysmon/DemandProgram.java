// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

import com.sun.tools.attach.VirtualMachine;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.OnDemand;
import org.gmp4j.agent.Points;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.sysmon.DemandLoops.Again;
import org.gmp4j.sysmon.DemandLoops.Counted;
import org.gmp4j.sysmon.DemandLoops.Endless;
import org.gmp4j.sysmon.DemandLoops.OnThread;
import org.gmp4j.sysmon.DemandLoops.Parked;
import org.gmp4j.sysmon.DemandLoops.Served;
import org.gmp4j.sysmon.DemandLoops.Server;
import org.gmp4j.sysmon.DemandLoops.Unread;
import org.gmp4j.sysmon.DemandLoops.Work;
import org.gmp4j.sysmon.DemandLoops.Worker;

/** Goroutines that overrun their quanta in a JVM with points on demand. The arguments name what is tried; it prints each with "ok". */
final class DemandProgram {
    /** The property that names the jar of the agent to be attached. */
    static final String AGENT = "agent.jar";
    private static final long PATIENCE = 60_000_000_000L;
    private static volatile long sink;

    private DemandProgram() {
    }

    /** Defines the class {@link Unread} anew, without a resource that is its class file. */
    private static final class Maker extends ClassLoader {
        private final Supplier<InputStream> resource;

        Maker() {
            this(() -> null);
        }

        Maker(Supplier<InputStream> resource) {
            super(DemandProgram.class.getClassLoader());
            this.resource = resource;
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            return resource.get();
        }

        LongUnaryOperator make() throws IOException, ReflectiveOperationException {
            try (InputStream in = Unread.class.getResourceAsStream("DemandLoops$Unread.class")) {
                byte[] b = in.readAllBytes();
                var made = defineClass(Unread.class.getName(), b, 0, b.length).getDeclaredConstructor();
                made.setAccessible(true);
                return (LongUnaryOperator) made.newInstance();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build()) {
            for (String what : args) {
                gmp.call(() -> {
                    DemandLoops.stop = false;
                    tried(what);
                    return null;
                });
                System.out.println(what + " ok");
            }
        }
    }

    private static void tried(String what) throws Exception {
        switch (what) {
            case "again" -> again();
            case "heldByTheHog" -> heldByTheHog();
            case "heldByAParkedGoroutine" -> heldByAParkedGoroutine();
            case "heldByAThread" -> heldByAThread();
            case "anotherMethodComputes" -> anotherMethodComputes();
            case "anotherMethodIsIdle" -> anotherMethodIsIdle();
            case "hotCallDuringTheProfile" -> hotCallDuringTheProfile();
            case "anotherMethodWaits" -> anotherMethodWaits();
            case "anotherCalleeComputes" -> anotherCalleeComputes();
            case "calleeDuringTheProfile" -> calleeDuringTheProfile();
            case "loopWithoutPolls" -> loopWithoutPolls();
            case "kinds" -> kinds();
            case "madeAtRunTime" -> givesPoints(new Maker().make());
            case "loaderGone" -> loaderGone();
            case "fullHeap" -> fullHeap();
            case "otherAgent" -> otherAgent();
            case "attached" -> attached();
            case "prepared" -> prepared();
            default -> throw new IllegalArgumentException(what);
        }
    }

    /** The class of points is defined though no goroutine has overrun. */
    private static void prepared() throws InterruptedException {
        boolean defined = false;
        for (int i = 0; i < 6 && !defined; i++) {
            Thread.sleep(12_000); // Some seconds after the start; many looks could overrun the quantum, which is a request.
            try {
                defined = Class.forName("java.lang.invoke.GmpPoint", false, null) != null;
            } catch (ClassNotFoundException e) {
                defined = false;
            }
        }
        check(defined, "it is not defined");
        check(OnDemand.counts().pauses() == 0, "it was defined for a class: " + OnDemand.counts());
    }

    /** Calls it in goroutines, beside one that yields, until that is so. */
    private static void call(LongUnaryOperator work, BooleanSupplier until) {
        for (long end = System.nanoTime() + PATIENCE; !until.getAsBoolean();) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(OnDemand.counts() + " " + Points.counters() + " " + Demand.refusals());
            }
            WaitGroup calls = new WaitGroup();
            calls.go(() -> sink += work.applyAsLong(DemandLoops.ROUNDS));
            calls.await();
        }
    }

    /** Until searches were in vain, or the class has points. */
    private static void callUntilRefused(LongUnaryOperator work) {
        long refused = Demand.refusals();
        call(work, () -> Demand.refusals() >= refused + 3 || has(work));
    }

    private static boolean has(Object work) {
        return OnDemand.get().has(work.getClass());
    }

    private static void givesPoints(LongUnaryOperator work) {
        long before = OnDemand.counts().classes();
        call(work, () -> OnDemand.counts().classes() > before);
        check(has(work), "another class got them");
    }

    private static void check(boolean ok, String otherwise) {
        if (!ok) {
            throw new AssertionError(otherwise);
        }
    }

    private static void again() {
        check(Points.counters().points() == 0, "no class has points at first");
        LongUnaryOperator work = new Again();
        givesPoints(work);
        check(Points.counters().points() == 1, "its class alone was changed: " + Points.counters());
        long reached = Points.counters().reached();
        call(work, () -> Points.counters().reached() > reached);
    }

    private static void heldByTheHog() {
        Endless work = new Endless();
        long refused = Demand.refusals();
        WaitGroup hog = new WaitGroup();
        hog.go(() -> sink += work.applyAsLong(0));
        for (long end = System.nanoTime() + PATIENCE; Demand.refusals() == refused;) {
            check(System.nanoTime() - end < 0, "it was not looked whether a stack holds it");
            check(!has(work), "a call that lasts would never be compiled again");
            Go.sleep(Duration.ofMillis(10));
        }
        check(!has(work), "a call that lasts would never be compiled again");
        DemandLoops.stop = true;
        hog.await();
        call(work, () -> has(work));
    }

    private static void heldByAParkedGoroutine() {
        Parked.chan = Chan.make(0);
        Parked work = new Parked();
        long[] got = new long[1];
        WaitGroup waiter = new WaitGroup();
        waiter.go(() -> got[0] = work.applyAsLong(0));
        Parked.chan.send(1);
        callUntilRefused(work);
        check(!has(work), "a goroutine waits inside the method that overruns");
        Parked.chan.send(2);
        waiter.await();
        check(got[0] == 3, "got " + got[0]);
        call(work, () -> has(work));
    }

    private static void anotherMethodComputes() {
        Served.chan = Chan.make(0);
        Served work = new Served();
        WaitGroup waiter = new WaitGroup();
        waiter.go(() -> sink += Served.waits());
        WaitGroup computer = new WaitGroup();
        computer.go(() -> sink += Served.computes());
        long refused = Demand.refusals();
        call(work, () -> Demand.refusals() >= refused + 5 || has(work));
        check(!has(work), "a call that computes would never be compiled again");
        DemandLoops.stop = true;
        computer.await();
        call(work, () -> has(work)); // The other call goes on.
        Served.chan.send(1);
        Served.chan.send(2);
        waiter.await();
    }

    private static void anotherMethodIsIdle() {
        Worker.jobs = Chan.make(0);
        Worker work = new Worker();
        WaitGroup worker = new WaitGroup();
        worker.go(() -> sink += Worker.works());
        Worker.jobs.send(1);
        long refused = Demand.refusals();
        call(work, () -> Demand.refusals() >= refused + 3 || has(work));
        boolean changed = has(work);
        Worker.jobs.send(0);
        worker.await();
        check(!changed, "a call that will compute would never be compiled again");
        call(work, () -> has(work));
    }

    /** The profile of the goroutine that waits lasts a second, because there is nothing to sample. */
    private static void hotCallDuringTheProfile() {
        Served.chan = Chan.make(0);
        Served work = new Served();
        int[] got = new int[1];
        WaitGroup waiter = new WaitGroup();
        waiter.go(() -> got[0] = Served.waits());
        Served.chan.send(1);
        long profiles = Demand.profiles();
        call(work, () -> Demand.profiles() > profiles);
        Go.sleep(Duration.ofMillis(300));
        check(!has(work), "it has points before the call begins");
        boolean[] changed = new boolean[1];
        WaitGroup late = new WaitGroup();
        late.go(() -> {
            sink += work.applyAsLong(60 * DemandLoops.ROUNDS); // It lasts longer than the rest of the profile.
            changed[0] = has(work);
        });
        late.await();
        Served.chan.send(2);
        waiter.await();
        check(!changed[0], "a call that lasts would never be compiled again");
        call(work, () -> has(work));
    }

    /** A long call that has only waited calls another method, which computes for longer than the rest of the profile. */
    private static void calleeDuringTheProfile() {
        Server.requests = Chan.make(0);
        Server server = new Server();
        LongUnaryOperator work = new Server();
        WaitGroup serving = new WaitGroup();
        serving.go(() -> sink += server.serves());
        long profiles = Demand.profiles();
        call(work, () -> Demand.profiles() > profiles);
        Go.sleep(Duration.ofMillis(300));
        check(!has(work), "it has points before the call begins");
        Server.requests.send(150 * DemandLoops.ROUNDS); // For brief, which is not hot.
        Server.requests.send(0L);
        boolean changed = has(work);
        serving.await();
        check(!changed, "a call that lasts would never be compiled again");
        call(work, () -> has(work));
    }

    private static void anotherMethodWaits() {
        Served.chan = Chan.make(0);
        Served work = new Served();
        int[] got = new int[1];
        WaitGroup waiter = new WaitGroup();
        waiter.go(() -> got[0] = Served.waits());
        Served.chan.send(1);
        call(work, () -> has(work));
        Served.chan.send(2);
        waiter.await();
        check(got[0] == 3, "got " + got[0]);
    }

    /** Most of the CPU time is spent in a method of the class that never overruns, and so is not hot. */
    private static void anotherCalleeComputes() {
        Server.requests = Chan.make(0);
        Server server = new Server();
        WaitGroup serving = new WaitGroup();
        serving.go(() -> sink += server.serves());
        long profiles = Demand.profiles();
        for (int i = 0; !has(server); i++) {
            check(Demand.profiles() - profiles <= 5, "a callee was taken for a long call");
            Server.requests.send(i % 40 == 0 ? DemandLoops.ROUNDS : DemandLoops.ROUNDS / 40);
            Go.sleep(Duration.ofMillis(1));
        }
        Server.requests.send(0L);
        serving.await();
    }

    /** In a JVM whose counted loops have no safepoint polls, frames are told when the loop has ended. C2 compiles it before. */
    private static void loopWithoutPolls() {
        for (int i = 0; i < 100_000; i++) {
            sink += Counted.sum(1_000);
        }
        WaitGroup computer = new WaitGroup();
        computer.go(() -> sink += Counted.computes());
        long refused = Demand.refusals();
        callCounted(() -> Demand.refusals() >= refused + 3 || OnDemand.get().has(Counted.class));
        check(!OnDemand.get().has(Counted.class), "a call that computes in an inner loop would never be compiled again");
        DemandLoops.stop = true;
        computer.await();
        callCounted(() -> OnDemand.get().has(Counted.class));
        check(OnDemand.counts().classes() <= 1, "another class got them, too: " + OnDemand.counts()); // It may not be counted yet.
    }

    /** Calls {@link Counted#sum} by its class in goroutines, beside one that yields, until a condition holds. */
    private static void callCounted(BooleanSupplier until) {
        for (long end = System.nanoTime() + PATIENCE; !until.getAsBoolean();) {
            check(System.nanoTime() - end < 0, OnDemand.counts() + " " + Points.counters() + " " + Demand.refusals());
            WaitGroup calls = new WaitGroup();
            calls.go(() -> {
                for (int i = 0; i < 3; i++) {
                    sink += Counted.sum((int) DemandLoops.ROUNDS);
                }
            });
            calls.await();
        }
    }

    private static void heldByAThread() throws InterruptedException {
        OnThread work = new OnThread();
        Thread t = Thread.ofPlatform().start(() -> sink += work.applyAsLong(0));
        callUntilRefused(work);
        check(!has(work), "a thread waits inside a method that would have points");
        DemandLoops.stop = true;
        LockSupport.unpark(t);
        t.join();
        call(work, () -> has(work));
    }

    private static void kinds() throws Exception {
        OnDemand points = OnDemand.get();
        check(points.mayHave(Work.class), "a class of the program");
        check(!points.mayHave(String.class), "the JDK");
        check(!points.mayHave(Gmp.class), "the runtime");
        check(!points.mayHave(int[].class), "no class file");
        Runnable lambda = () -> sink++;
        check(!points.mayHave(lambda.getClass()), "hidden");
        try (InputStream in = Unread.class.getResourceAsStream("DemandLoops$Unread.class")) {
            Class<?> hidden = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), false).lookupClass();
            check(!points.mayHave(hidden), "hidden");
        }
        check(OnDemand.methods(Again.class).equals(Map.of("applyAsLong", false)), "" + OnDemand.methods(Again.class));
        check(OnDemand.methods(Worker.class).equals(Map.of("applyAsLong", false, "works", true)),
                "a loop that counts within a loop: " + OnDemand.methods(Worker.class));
        check(OnDemand.methods(DemandTest.class) != null, "a class of another file");
        check(OnDemand.methods(new Maker().make().getClass()) == null, "its class file cannot be had");
        check(OnDemand.methods(new Maker(() -> new ByteArrayInputStream(new byte[1_000])).make().getClass()) == null, "no class file");
        Maker stopped = new Maker(() -> {
            throw new IllegalStateException("stopped");
        });
        check(OnDemand.methods(stopped.make().getClass()) == null, "its loader refuses");
    }

    private static void loaderGone() throws Exception {
        LongUnaryOperator work = new Maker().make();
        givesPoints(work);
        WeakReference<Class<?>> type = new WeakReference<>(work.getClass());
        work = null;
        for (long end = System.nanoTime() + PATIENCE; type.get() != null; System.gc()) {
            check(System.nanoTime() - end < 0, "the class is held");
            Go.sleep(Duration.ofMillis(1));
        }
    }

    private static void fullHeap() {
        List<byte[]> all = new ArrayList<>();
        for (int size = 1 << 20; size > 16;) {
            try {
                all.add(new byte[size]);
            } catch (OutOfMemoryError e) {
                size /= 2;
            }
        }
        LongUnaryOperator work = new Again();
        long end = System.nanoTime() + 2_000_000_000;
        while (System.nanoTime() - end < 0) {
            sink += work.applyAsLong(DemandLoops.ROUNDS);
        }
        all.clear();
        call(work, () -> has(work));
    }

    private static void otherAgent() throws Exception {
        check(Work.changedBy().equals("another agent"), Work.changedBy());
        LongUnaryOperator work = new Work();
        givesPoints(work);
        check(Work.changedBy().equals("another agent"), "its change is lost: " + Work.changedBy());
        long points = Points.counters().points();
        OtherAgent.again(Work.class);
        check(Points.counters().points() == 2 * points, "ours are put in again: " + Points.counters());
        check(Work.changedBy().equals("another agent"), Work.changedBy());
        long reached = Points.counters().reached();
        call(work, () -> Points.counters().reached() > reached);
    }

    /** Our agent comes when there is a scheduler already; the jar is named by a property. */
    private static void attached() throws Exception {
        check(OnDemand.get() == null, "it has come already");
        VirtualMachine us = VirtualMachine.attach(String.valueOf(ProcessHandle.current().pid()));
        us.loadAgent(System.getProperty(AGENT), "points=demand");
        us.detach();
        givesPoints(new Again());
    }
}
