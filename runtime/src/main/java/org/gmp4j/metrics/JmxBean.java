// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.ObjectName;

import org.gmp4j.report.Traceback;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sysmon.Stalls;
import org.jspecify.annotations.Nullable;

/** The {@link GmpMXBean} of a scheduler. */
public final class JmxBean implements GmpMXBean {
    private static final String SPECIAL = ",=:\"*?\n";

    private final Scheduler s;
    private final Function<List<String>, String> settings;
    private @Nullable ObjectName name; // Null until the bean is registered.

    /**
     * Makes the bean of a scheduler.
     *
     * @param settings does the work of {@link #set}
     */
    @SuppressWarnings("exports")
    public JmxBean(Scheduler s, Function<List<String>, String> settings) {
        this.s = s;
        this.settings = settings;
    }

    /**
     * Registers the bean. Appends a number to its name if another bean has that name. The other bean may belong to a scheduler that is
     * ending, or to a copy of gmp4j in another class loader. Not thread-safe.
     */
    public void register() {
        String label = s.label();
        try {
            for (int n = 2; name == null; n++) {
                ObjectName free = name(label);
                try {
                    ManagementFactory.getPlatformMBeanServer().registerMBean(this, free);
                    name = free;
                } catch (InstanceAlreadyExistsException e) {
                    label = s.label() + "-" + n;
                }
            }
        } catch (JMException e) {
            throw new IllegalStateException("no bean of " + s.name() + " can be registered", e);
        }
    }

    /** Unregisters the bean. */
    public void unregister() {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        } catch (JMException gone) {
            return; // Other code has unregistered it.
        }
    }

    private static ObjectName name(String label) throws JMException {
        boolean special = label.chars().anyMatch(c -> SPECIAL.indexOf(c) >= 0);
        return new ObjectName("org.gmp4j:type=Gmp,name=" + (special ? ObjectName.quote(label) : label));
    }

    @Override
    public String getName() {
        return s.name();
    }

    @Override
    public int getProcs() {
        return s.gomaxprocs();
    }

    @Override
    public int getGoroutines() {
        return s.gcount();
    }

    @Override
    public int getThreads() {
        return s.mcount();
    }

    @Override
    public long getStalls() {
        return Stalls.of(s).blocked() + Stalls.of(s).ran();
    }

    @Override
    public Map<String, Double> getMetrics() {
        Map<String, Double> numbers = new TreeMap<>();
        new Metrics(s).read().forEach((name, value) -> number(numbers, name, value));
        return numbers;
    }

    private static void number(Map<String, Double> numbers, String name, Object value) {
        if (value instanceof Number n) {
            numbers.put(name, n.doubleValue());
        }
    }

    @Override
    public Snapshot snapshot() {
        Metrics m = new Metrics(s);
        Map<String, Double> numbers = new TreeMap<>();
        Map<String, long[]> byP = new TreeMap<>();
        Map<String, long[][]> byPair = new TreeMap<>();
        Map<String, long[]> histograms = new TreeMap<>();
        double[] bounds = {};
        for (Map.Entry<String, Object> e : m.read().entrySet()) {
            switch (e.getValue()) {
                case long[] n -> byP.put(e.getKey(), n);
                case long[][] n -> byPair.put(e.getKey(), n);
                case Histogram h -> {
                    histograms.put(e.getKey(), h.counts());
                    bounds = h.bounds();
                }
                default -> number(numbers, e.getKey(), e.getValue());
            }
        }
        return new Snapshot(numbers, byP, byPair, histograms, bounds, m.states());
    }

    @Override
    public String prometheus() {
        return Metrics.prometheus();
    }

    @Override
    public String dump() {
        return Traceback.all(s);
    }

    @Override
    public String goroutines() {
        return new GoroutineProfile(s, false).toString();
    }

    @Override
    public byte[] goroutinesPprof() {
        return new GoroutineProfile(s, false).pprof();
    }

    @Override
    public String leaks() {
        return new GoroutineProfile(s, true).toString();
    }

    @Override
    public byte[] leaksPprof() {
        return new GoroutineProfile(s, true).pprof();
    }

    @Override
    public String profile(String kind, double seconds) {
        return taken(kind, seconds).toString();
    }

    @Override
    public byte[] profilePprof(String kind, double seconds) {
        return taken(kind, seconds).pprof();
    }

    private Profile taken(String kind, double seconds) {
        try {
            return Inspection.profile(s, Inspection.Kind.of(kind), seconds);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    @Override
    public void trace(String file, double seconds) {
        try {
            Inspection.trace(Path.of(file), seconds);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static IllegalStateException interrupted() {
        Thread.currentThread().interrupt();
        return new IllegalStateException("the call was interrupted");
    }

    @Override
    public String set(String[] changes) {
        return settings.apply(List.of(changes));
    }
}
