// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.management;

import java.net.InetSocketAddress;
import java.util.List;
import javax.management.MBeanServerFactory;

import jdk.jfr.FlightRecorder;
import org.gmp4j.check.Invariants;
import org.gmp4j.config.DebugVars;
import org.gmp4j.jfr.FlightRecording;
import org.gmp4j.metrics.Dashboard;
import org.gmp4j.metrics.JmxBean;
import org.gmp4j.metrics.MetricsServer;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * Shows a scheduler by HTTP if its settings ask for that, and by JMX and JFR if its settings ask for that or the process uses them. Checks
 * the scheduler's invariants if its settings ask for that.
 */
public final class Diagnosis implements Runnable {
    private static final long CHECK_EVERY_MILLIS = 100;

    private final Scheduler s;
    private final Served served;
    private @Nullable JmxBean bean; // Guarded by the monitor; null when no bean is registered.
    private boolean ended; // Guarded by the monitor.
    private volatile boolean lookForJmx;
    private volatile boolean lookForJfr = true;

    /** Makes the diagnosis of a scheduler. {@link #begin} starts it. */
    public Diagnosis(Scheduler s, Served served) {
        this.s = s;
        this.served = served;
    }

    /** The HTTP servers that show the scheduler. Each is null if it is not wanted. */
    public record Served(@Nullable MetricsServer metrics, @Nullable Dashboard dashboard) {
        /** Closes the servers, or this scheduler's share in them. */
        public void close() {
            if (metrics != null) {
                metrics.close();
            }
            if (dashboard != null) {
                dashboard.close();
            }
        }
    }

    /**
     * Starts the servers. Called before the scheduler is made, so that there is no scheduler to close when a server cannot start.
     *
     * @param metrics the builder's address; null if GMPDEBUG decides
     * @param dashboard the builder's port; null if GMPDEBUG or the property decides
     * @throws IllegalArgumentException when a server cannot listen at its address, or the JDK's HTTP server is missing
     */
    public static Served serve(@Nullable InetSocketAddress metrics, @Nullable Integer dashboard, DebugVars debug) {
        InetSocketAddress address = metrics != null ? metrics : debug.metrics();
        Integer port = dashboard != null ? dashboard : debug.dashboard() >= 0 ? Integer.valueOf(debug.dashboard()) : portOfProperty();
        MetricsServer m = null;
        boolean done = false;
        try {
            m = address == null ? null : MetricsServer.shared(address);
            Dashboard d = port == null ? null : Dashboard.shared(port);
            done = true;
            return new Served(m, d);
        } catch (IllegalStateException noModule) {
            throw new IllegalArgumentException(noModule.getMessage(), noModule);
        } finally {
            if (!done && m != null) {
                m.close();
            }
        }
    }

    /**
     * Returns the port of the property {@code gmp.dashboard}, or null when it is not set. The property works even if {@code
     * Gmp.Builder.debug} replaces GMPDEBUG.
     */
    private static @Nullable Integer portOfProperty() {
        return System.getProperty("gmp.dashboard") == null ? null : Dashboard.wanted();
    }

    /** Starts the parts that the settings ask for. The caller has to call {@link #end} even if this throws. */
    public void begin() {
        lookForJmx = !s.config.debug().jmx();
        if (!lookForJmx) {
            registerNow();
        }
        if (s.config.debug().jfr()) {
            recordNow();
        }
        if (Recorder.now() != null) {
            FlightRecording.look(s);
        }
        s.setEverySecond(this);
        if (s.config.debug().invariants()) {
            check();
        }
    }

    /** Ends the servers and the bean, after the end of the scheduler. Repeated calls do nothing. */
    public void end() {
        served.close();
        synchronized (this) {
            ended = true;
            if (bean != null) {
                bean.unregister();
                bean = null;
            }
        }
    }

    // The bean and the events

    private void registerNow() {
        try {
            register();
        } catch (NoClassDefFoundError e) {
            if (!isNoModule(e)) {
                throw e;
            }
            throw new IllegalArgumentException("GMPDEBUG: jmx=1 needs the module java.management: start java with --add-modules "
                    + "java.management", e);
        }
    }

    private void recordNow() {
        try {
            FlightRecording.begin();
        } catch (NoClassDefFoundError e) {
            if (!isNoModule(e)) {
                throw e;
            }
            throw new IllegalArgumentException("GMPDEBUG: jfr=1 needs the module jdk.jfr: start java with --add-modules jdk.jfr", e);
        }
    }

    /**
     * Checks whether the process uses JMX or JFR, and if so starts a thread that registers the bean or the events. Sysmon calls this each
     * second. The registration has a thread of its own because it waits for locks of the JDK.
     */
    @Override
    public void run() {
        if (lookForJmx) {
            try {
                if (usesJmx()) {
                    lookForJmx = false;
                    if (!started(new Registering(this), "-jmx")) {
                        lookForJmx = true;
                    }
                }
            } catch (LinkageError e) {
                lookForJmx = !isNoModule(e); // If there was no memory for linking, the next call tries again in a second.
            }
        }
        if (lookForJfr) {
            try {
                if (Recorder.now() != null) {
                    FlightRecording.look(s);
                } else if (usesJfr()) {
                    lookForJfr = false;
                    if (!started(new Recording(this), "-jfr")) {
                        lookForJfr = true;
                    }
                }
            } catch (LinkageError e) {
                lookForJfr = !isNoModule(e);
            }
        }
    }

    /** Returns whether the process uses JMX. Takes no lock, and loads one class of JMX, but not {@link JmxBean}. */
    private static boolean usesJmx() {
        return JdkThreads.initialized(MBeanServerFactory.class);
    }

    /** Returns whether the process has used JFR. Takes no lock, and loads one class of JFR, but not {@link FlightRecording}. */
    private static boolean usesJfr() {
        return JdkThreads.initialized(FlightRecorder.class) && FlightRecorder.isInitialized();
    }

    /** Starts a thread that runs {@code what}. Returns false when there is no memory for it. */
    private boolean started(Runnable what, String name) {
        try {
            Thread t = new OwnThread(what, s.name().concat(name));
            t.start();
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Returns whether the error means that a class does not exist. An error for lack of memory has a cause of another type. */
    private static boolean isNoModule(LinkageError e) {
        return e instanceof NoClassDefFoundError && (e.getCause() == null || e.getCause() instanceof ClassNotFoundException);
    }

    /** Registers the bean. */
    private record Registering(Diagnosis d) implements Runnable {
        @Override
        public void run() {
            try {
                d.register();
            } catch (OutOfMemoryError | LinkageError noMemory) {
                d.lookForJmx = true; // The next call of run tries again.
            }
        }
    }

    /** Registers the events with JFR. After that {@link #run} checks each second whether a recording has enabled the event for waits. */
    private record Recording(Diagnosis d) implements Runnable {
        @Override
        public void run() {
            try {
                FlightRecording.begin();
            } catch (OutOfMemoryError | LinkageError noMemory) {
                return; // The next call of run tries again.
            } finally {
                d.lookForJfr = true;
            }
        }
    }

    private synchronized void register() {
        if (!ended) {
            JmxBean made = new JmxBean(s, new Adjustments(s));
            made.register();
            bean = made;
        }
    }

    // The invariants

    private void check() {
        // Initialises the JDK's formatter while there is memory: a class whose initialiser fails stays unusable.
        String _ = "%s %d".formatted(s.name(), 0);
        s.setAtStop(this::checkStopped);
        Thread t = new OwnThread(this::checkNowAndThen, s.name() + "-invariants");
        s.endFirst(t);
        t.start();
    }

    /** Checks the invariants. The caller has stopped the world and starts it again in any case. */
    private void checkStopped() {
        try {
            report(Invariants.check(s));
        } catch (OutOfMemoryError | StackOverflowError | LinkageError notNow) {
            return; // Skips this check. A LinkageError comes from a class whose initialisation ran out of memory earlier.
        }
    }

    private void checkNowAndThen() {
        try {
            while (!s.isClosing()) {
                checkRunning();
                Thread.sleep(CHECK_EVERY_MILLIS);
            }
        } catch (InterruptedException end) {
            return; // The scheduler is about to end.
        }
    }

    private void checkRunning() {
        try {
            report(Invariants.sample(s));
        } catch (OutOfMemoryError | LinkageError notNow) {
            return;
        }
    }

    private void report(List<String> broken) {
        if (!broken.isEmpty() && !s.isClosing()) {
            throw Throw.of("invariants of " + s.name() + " are broken: " + String.join("; ", broken));
        }
    }
}
