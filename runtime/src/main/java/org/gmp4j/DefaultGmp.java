// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.function.Function;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.DurationText;
import org.gmp4j.config.Procs;
import org.gmp4j.config.Quantum;
import org.gmp4j.config.QuantumText;
import org.gmp4j.sched.jdk.DefaultPool;
import org.gmp4j.sched.jdk.NamedPools;
import org.gmp4j.struct.ProcessFlag;
import org.gmp4j.sysmon.CompilerShare;
import org.jspecify.annotations.Nullable;

/** Makes the default scheduler ({@link Gmp#makeDefault}) and reads its settings. */
final class DefaultGmp {
    private static final String PREFIX = "gmp.";
    private static final String PROPERTY = PREFIX + "default";
    private static final String VARIABLE = "GMP_DEFAULT";
    private static final List<String> SETTINGS = List.of("procs", "spin", "quantum", "affinity", "steal", "realtime", "hugepages",
            "nodequeues", "stalled", "debug", "compilers", "pools");
    private static final String KNOWN = String.join(", ", SETTINGS);

    /** The setting {@code debug}. The property {@code gmp.debug} also exists, for the whole process: see {@link ProcessFlag#debug}. */
    private static final String DEBUG = "debug";
    private static final String ON = "on";
    private static final String OFF = "off";
    /** The least time between two printed stalls with {@code stalled=on}. */
    private static final Duration STALLED = Duration.ofSeconds(1);

    /** Written once, under the class's monitor. */
    private static volatile @Nullable Gmp made;
    /** The pools. This field keeps them reachable for as long as the JVM lives. Written under the class's monitor. */
    private static List<Gmp> pools = List.of();

    private final Properties properties;
    private final Map<String, String> environment;

    /** Reads the settings from these properties and variables. */
    DefaultGmp(Properties properties, Map<String, String> environment) {
        this.properties = properties;
        this.environment = environment;
    }

    /** Throws if {@code gmp} is the default scheduler, which cannot be closed. */
    static void checkClose(Gmp gmp) {
        if (gmp == made) {
            throw new IllegalStateException("close was called of the default Gmp, which runs the virtual threads of this JVM");
        }
    }

    /** Makes the default scheduler if a property or a variable asks for it and it does not exist. */
    static void makeIfWanted() {
        if (made == null && new DefaultGmp(System.getProperties(), System.getenv()).wanted()) {
            Gmp _ = make(false);
        }
    }

    /** Returns the default scheduler, and makes it if it does not exist. {@code api} is the parameter of {@code Prelink.once}. */
    static Gmp make(boolean api) {
        Gmp gmp = made;
        return gmp == null ? makeOnce(api) : gmp;
    }

    private static synchronized Gmp makeOnce(boolean api) {
        if (made == null) {
            Settings settings = new Settings();
            settings.api = api;
            DefaultGmp wanted = new DefaultGmp(System.getProperties(), System.getenv());
            wanted.apply(settings);
            Compilers compilers = wanted.compilers();
            List<PoolSettings> named = wanted.pools();
            List<Gmp> all = new ArrayList<>(); // The default scheduler, then the pools.
            boolean done = false;
            try {
                all.add(begun(settings));
                for (PoolSettings p : named) {
                    Settings of = wanted.settings(p);
                    of.api = api;
                    all.add(begun(of));
                }
                setPools(named, all);
                DefaultPool.become(all.getFirst().s);
                done = true;
            } finally {
                if (!done) {
                    closeAll(all);
                }
            }
            Gmp gmp = all.getFirst();
            pools = List.copyOf(all.subList(1, all.size()));
            made = gmp;
            if (compilers != Compilers.EQUAL) {
                CompilerShare.begin(gmp.s, compilers == Compilers.YIELD);
            }
        }
        return made;
    }

    /** Closes all schedulers, the last first. Removes each from the list, so that its memory is free for the next close. */
    private static void closeAll(List<Gmp> all) {
        while (!all.isEmpty()) {
            try {
                all.removeLast().close();
            } catch (OutOfMemoryError e) {
                continue; // The threads of this scheduler stay asleep. The caller throws the error that came first.
            }
        }
    }

    private static Gmp begun(Settings settings) {
        Gmp gmp = settings.build();
        boolean done = false;
        try {
            gmp.run(new First()); // This makes the first M now, because later the system may have no thread left.
            done = true;
        } finally {
            if (!done) {
                gmp.close();
            }
        }
        return gmp;
    }

    /**
     * Sets the pools, each of which runs the virtual threads with certain names. {@code all} has the default scheduler, then the schedulers
     * of the pools.
     */
    private static void setPools(List<PoolSettings> named, List<Gmp> all) {
        if (!named.isEmpty()) {
            NamedPools.Pool[] pools = new NamedPools.Pool[named.size()];
            for (int i = 0; i < pools.length; i++) {
                pools[i] = new NamedPools.Pool(all.get(i + 1).s, named.get(i).names());
            }
            NamedPools.set(pools);
        }
    }

    /** The first goroutine. The scheduler makes its first M to run it. */
    private static final class First implements Runnable {
        @Override
        public void run() {
            // There is nothing to do.
        }
    }

    /**
     * Returns whether the settings ask for a default scheduler.
     *
     * @throws IllegalArgumentException when the value is neither on nor off
     */
    boolean wanted() {
        Setting s = setting("");
        return s != null && s.isOn();
    }

    /**
     * Applies the settings to the builder.
     *
     * @throws IllegalArgumentException when a value is bad or the name of a setting is unknown
     */
    void apply(Gmp.Builder b) {
        refuseUnknown();
        Setting most = jdkSetting("maxPoolSize");
        if (most != null) {
            b.maxThreads(most.threads());
        }
        Setting procs = setting("procs");
        if (procs != null) {
            b.procs(procs.number());
        } else if (environment.getOrDefault(Settings.PROCS_VARIABLE, "").isBlank()) {
            jdkProcs(b, jdkSetting("parallelism"), most);
        }
        Setting spin = setting("spin");
        if (spin != null) {
            b.spin(spin.read(SpinPolicy::parse));
        }
        Setting quantum = setting("quantum");
        if (quantum != null) {
            quantum.quantum(b);
        }
        Setting steal = setting("steal");
        if (steal != null) {
            b.steal(steal.read(StealOrder::parse));
        }
        Setting affinity = setting("affinity");
        if (affinity != null) {
            b.affinity(affinity.read(Affinity::parse));
        }
        Setting realtime = setting("realtime");
        if (realtime != null) {
            b.realtime(realtime.priority());
        }
        Setting hugePages = setting("hugepages");
        if (hugePages != null) {
            b.hugePages(hugePages.isOn());
        }
        Setting nodeQueues = setting("nodequeues");
        if (nodeQueues != null) {
            b.nodeQueues(nodeQueues.isOn());
        }
        debug(b);
    }

    /**
     * Sets the number of Ps from the settings of the JDK's scheduler: its parallelism, but not more than its greatest number of threads.
     * Called when no setting of the runtime sets the number of Ps.
     */
    private static void jdkProcs(Gmp.Builder b, @Nullable Setting parallelism, @Nullable Setting most) {
        int procs = parallelism == null ? Procs.numCPU() : parallelism.number();
        int threads = most == null ? procs : most.threads();
        if (parallelism != null || threads < procs) {
            b.procs(Math.min(procs, threads));
        }
    }

    /** Returns a setting of the JDK's scheduler. */
    private @Nullable Setting jdkSetting(String name) {
        String property = "jdk.virtualThreadScheduler." + name;
        String value = properties.getProperty(property);
        return value == null || value.isBlank() ? null : new Setting(property, value.strip());
    }

    /** Whether C2 gives way to the program's threads, by a lower share of the CPU, while the program starts. */
    enum Compilers {
        /** C2 gives way if the process may use one CPU only, and C2 can get its old share back later. */
        AUTO,
        /**
         * C2 gives way on any number of CPUs. If C2 cannot get its old share back, it gives way only if the process is alone in its cgroup.
         * Then all other threads are later lowered to C2's priority, so that they are equal again.
         */
        YIELD,
        /** C2 does not give way. */
        EQUAL
    }

    Compilers compilers() {
        Setting compilers = setting("compilers");
        if (compilers == null) {
            return Compilers.AUTO;
        }
        for (Compilers c : Compilers.values()) {
            if (compilers.is(c.name())) {
                return c;
            }
        }
        throw compilers.bad("use auto, yield or equal");
    }

    /**
     * Reads the setting pools.
     *
     * @throws IllegalArgumentException when it is bad
     */
    List<PoolSettings> pools() {
        Setting pools = setting("pools");
        if (pools == null) {
            return List.of();
        }
        try {
            return PoolSettings.parse(pools.value);
        } catch (IllegalArgumentException e) {
            throw pools.bad(String.valueOf(e.getMessage()));
        }
    }

    /** Returns the settings of a pool's scheduler: its own, with debug and stalled from the default scheduler. */
    private Settings settings(PoolSettings pool) {
        Settings s = new Settings();
        debug(s);
        try {
            pool.apply(s);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PROPERTY + ".pools: " + e.getMessage(), e);
        }
        return s;
    }

    /** Applies the settings debug and stalled. The setting stalled becomes {@code stall} of GMPDEBUG. */
    private void debug(Gmp.Builder b) {
        Setting debug = setting(DEBUG);
        Setting stalled = setting("stalled");
        String text = ProcessFlag.debug();
        if (debug != null) {
            DebugVars _ = debug.read(DebugVars::parse);
            text = debug.value;
        }
        if (stalled != null) {
            Duration every = stalled.is(OFF) ? Duration.ZERO : stalled.is(ON) ? STALLED : stalled.interval();
            text = (text == null ? "" : text) + ",stall=" + every.toMillis();
        }
        if (text != null) {
            b.debug(text);
        }
    }

    private void refuseUnknown() {
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(PROPERTY + ".") && !SETTINGS.contains(name.substring(PROPERTY.length() + 1))) {
                throw new IllegalArgumentException(unknown(name));
            }
            String setting = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : "";
            if (SETTINGS.contains(setting) && !setting.equals(DEBUG)) {
                throw new IllegalArgumentException(name + " is no setting: use " + PROPERTY + "." + setting);
            }
        }
        for (String name : environment.keySet()) {
            if (name.startsWith(VARIABLE + "_")
                    && !SETTINGS.contains(name.substring(VARIABLE.length() + 1).toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException(unknown(name));
            }
        }
    }

    private static String unknown(String name) {
        return name + " is no setting of the default scheduler; it has " + KNOWN;
    }

    /**
     * Returns the setting from the property, or else from the variable, or else null. The empty name is the setting that switches the
     * default scheduler on. A blank value counts as not set.
     */
    private @Nullable Setting setting(String name) {
        String property = name.isEmpty() ? PROPERTY : PROPERTY + "." + name;
        String value = properties.getProperty(property);
        String from = property;
        if (value == null || value.isBlank()) {
            from = name.isEmpty() ? VARIABLE : VARIABLE + "_" + name.toUpperCase(Locale.ROOT);
            value = environment.get(from);
        }
        return value == null || value.isBlank() ? null : new Setting(from, value.strip());
    }

    /** A setting, and where it was found. */
    private record Setting(String from, String value) {
        boolean is(String word) {
            return value.equalsIgnoreCase(word);
        }

        boolean isOn() {
            if (!is(ON) && !is(OFF)) {
                throw bad("use on or off");
            }
            return is(ON);
        }

        IllegalArgumentException bad(String sentence) {
            return new IllegalArgumentException(from + " is \"" + value + "\": " + sentence);
        }

        int number() {
            return between(1, Procs.MAX, "use a number from 1 to " + Procs.MAX);
        }

        int threads() {
            return between(1, Integer.MAX_VALUE, "use a number of threads, 1 or more");
        }

        int priority() {
            return between(0, Settings.MOST_PRIORITY, "use a priority from 1 to " + Settings.MOST_PRIORITY + ", or 0");
        }

        private int between(int least, int most, String sentence) {
            try {
                int n = Integer.parseInt(value);
                if (n >= least && n <= most) {
                    return n;
                }
            } catch (NumberFormatException e) {
                throw bad(sentence);
            }
            throw bad(sentence);
        }

        void quantum(Gmp.Builder b) {
            try {
                Quantum q = QuantumText.parse(value);
                Gmp.Builder _ = b.quantum(Duration.ofNanos(q.least()), Duration.ofNanos(q.most()));
            } catch (IllegalArgumentException e) {
                throw bad(String.valueOf(e.getMessage()));
            }
        }

        Duration interval() {
            Duration d = DurationText.parse(value);
            if (d == null || d.compareTo(Duration.ofMillis(1)) < 0 || d.compareTo(Duration.ofSeconds(1000)) > 0) {
                throw bad("use on, off, or how often at most, from 1ms to 1000s");
            }
            return d;
        }

        <T> T read(Function<String, T> reader) {
            try {
                return reader.apply(value);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(from + ": " + e.getMessage(), e);
            }
        }
    }
}
