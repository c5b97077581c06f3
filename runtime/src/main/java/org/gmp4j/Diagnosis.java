// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.net.InetSocketAddress;
import java.util.List;

import org.gmp4j.check.Invariants;
import org.gmp4j.metrics.Dashboard;
import org.gmp4j.metrics.JmxBean;
import org.gmp4j.metrics.MetricsServer;
import org.gmp4j.proc.DebugVars;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.struct.Throw;

/** What shows a scheduler to the outside, or checks it, as its settings ask for. */
final class Diagnosis implements Runnable {
    private static final long CHECK_EVERY_MILLIS = 100;

    private final Scheduler s;
    private final Served served;
    private JmxBean bean; // Under the monitor; null when it is not registered.
    private boolean ended; // Likewise.

    /** Of a scheduler that was just made. */
    Diagnosis(Scheduler s, Served served) {
        this.s = s;
        this.served = served;
    }

    /** What answers by HTTP; each null for none. */
    record Served(MetricsServer metrics, Dashboard dashboard) {
        void close() {
            if (metrics != null) {
                metrics.close();
            }
            if (dashboard != null) {
                dashboard.close();
            }
        }
    }

    /**
     * The servers, before there is a scheduler: so nothing is to be undone when there can be none.
     *
     * @param metrics the builder's; null for what GMPDEBUG says
     * @param dashboard likewise
     * @throws IllegalArgumentException when one cannot listen where it is to
     */
    static Served serve(InetSocketAddress metrics, Integer dashboard, DebugVars debug) {
        InetSocketAddress address = metrics != null ? metrics : debug.metrics();
        Integer port = dashboard != null ? dashboard : debug.dashboard() >= 0 ? Integer.valueOf(debug.dashboard()) : wanted();
        MetricsServer m = address == null ? null : MetricsServer.shared(address);
        boolean done = false;
        try {
            Dashboard d = port == null ? null : Dashboard.shared(port);
            done = true;
            return new Served(m, d);
        } finally {
            if (!done && m != null) {
                m.close();
            }
        }
    }

    /** By a property, so that a command can have the page of a program that sets its own GMPDEBUG. */
    private static Integer wanted() {
        return System.getProperty("gmp.dashboard") == null ? null : Dashboard.wanted();
    }

    /** Begins. After a failure, too, {@link #end} is to be called. */
    void begin() {
        if (s.config.debug().jmx()) {
            registerNow();
        } else {
            s.setEverySecond(this);
        }
        if (s.config.debug().invariants()) {
            check();
        }
    }

    /** The scheduler has ended. Harmless when repeated. */
    void end() {
        served.close();
        synchronized (this) {
            ended = true;
            if (bean != null) {
                bean.unregister();
                bean = null;
            }
        }
    }

    // The bean

    private void registerNow() {
        try {
            register();
        } catch (NoClassDefFoundError e) {
            if (!isNoModule(e)) {
                throw e;
            }
            throw new IllegalStateException("jmx=1 needs the module java.management: start java with --add-modules java.management", e);
        }
    }

    /** On sysmon: registers it once anybody uses JMX, on a thread that may wait for the JDK's locks. */
    @Override
    public void run() {
        try {
            if (!JmxBean.wanted()) {
                return;
            }
            Thread t = new Thread(null, new Registering(this), s.name().concat("-jmx"), 0, false);
            t.setDaemon(true);
            s.setEverySecond(null);
            boolean started = false;
            try {
                t.start();
                started = true;
            } finally {
                if (!started) {
                    s.setEverySecond(this); // There was no memory for it.
                }
            }
        } catch (LinkageError e) {
            if (isNoModule(e)) {
                s.setEverySecond(null);
            } // Else something was not linked for want of memory: again in a second.
        }
    }

    /** A class is not there. When one could not be loaded or linked for want of memory the cause says so. */
    private static boolean isNoModule(LinkageError e) {
        return e instanceof NoClassDefFoundError && (e.getCause() == null || e.getCause() instanceof ClassNotFoundException);
    }

    /** A class, as a lambda would be linked on sysmon, which an error in that would end. */
    private record Registering(Diagnosis d) implements Runnable {
        @Override
        public void run() {
            try {
                d.register();
            } catch (OutOfMemoryError | LinkageError noMemory) {
                d.s.setEverySecond(d); // Again in a second.
            }
        }
    }

    private synchronized void register() {
        if (!ended) {
            JmxBean made = new JmxBean(s);
            made.register();
            bean = made;
        }
    }

    // The invariants

    private void check() {
        s.setAtStop(() -> report(Invariants.check(s)));
        Thread t = new Thread(null, this::checkNowAndThen, s.name() + "-invariants", 0, false);
        t.setDaemon(true);
        s.endFirst(t);
        t.start();
    }

    private void checkNowAndThen() {
        try {
            while (!s.isClosing()) {
                report(Invariants.sample(s));
                Thread.sleep(CHECK_EVERY_MILLIS);
            }
        } catch (InterruptedException end) {
            return; // The scheduler is about to.
        }
    }

    private void report(List<String> broken) {
        if (!broken.isEmpty() && !s.isClosing()) {
            throw Throw.of("invariants of " + s.name() + " are broken: " + String.join("; ", broken));
        }
    }
}
