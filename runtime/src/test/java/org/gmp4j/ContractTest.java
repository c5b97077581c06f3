// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.gmp4j.testing.ApiSources;
import org.gmp4j.testing.ApiSources.Member;
import org.gmp4j.testing.CallGraph;
import org.junit.jupiter.api.Test;

/**
 * What the exported packages owe their callers: comments, what may be null, and of each method that may wait the forms of that wait that
 * end early, and in its comment or its package's a word on threads, interrupts and bubbles. Whether a method may wait is seen in its code:
 * whether its calls can lead to a park.
 */
class ContractTest {
    private static final Path CLASSES = Path.of("target/classes/org/gmp4j");
    private static final Path TEST_CLASSES = Path.of("target/test-classes/org/gmp4j");
    private static final List<String> WORDS = List.of("thread", "interrupt", "bubble");
    /** The link from a package's description to a section of another one. */
    private static final Pattern SECTION = Pattern.compile("\\{@linkplain ([\\w.]+)##(\\w+) ");

    /** Calls inside the runtime that lead to a park in the code and are no wait of the caller's. */
    private static final Set<String> NO_WAITS = Set.of("Fatal#fatal", "Fatal#report", "ProcessEnd#nap", // The process ends.
            "Cancellation#await", "Cancellation#awaitSweep", // Another thread is in the middle of the same cancel.
            "WebServer#start", "WebServer#shared", // Joins its thread when it could not listen.
            "Settings#start", "Settings#startServed", // Closes a scheduler that could not start.
            "Closing#joinMs", // For the Ms of a scheduler without goroutines, which end by themselves.
            "DefaultGmp#make", "DefaultGmp#makeIfWanted", // Closes it when its scheduler could not start.
            "Mutex#withLock", "Mutex#with"); // Inside the runtime for some instructions; of Mutex's own see below.

    private static final String SEGMENT = "the forms take its asByteBuffer()";
    private static final String BYTES = "the forms take ByteBuffer.wrap of it";
    private static final String SEVERAL = "a deadline is their limit, which a context's end may set: Context.afterFunc";
    /** Methods that may wait without having all forms, and why: all of a name, or one overload. */
    private static final Map<String, String> WITHOUT = Map.ofEntries(
            Map.entry("Gmp#call", "Gmp.submit gives a Task, which has the forms"),
            Map.entry("Go#sleep", "Within would be a second limit of time"),
            Map.entry("Conn#read(MemorySegment)", SEGMENT),
            Map.entry("Conn#read(byte(), int, int)", BYTES),
            Map.entry("Conn#read(ByteBuffer())", SEVERAL),
            Map.entry("Conn#read(ByteBuffer(), int, int)", SEVERAL),
            Map.entry("Conn#read(MemorySegment())", SEVERAL),
            Map.entry("Conn#write(MemorySegment)", SEGMENT),
            Map.entry("Conn#write(byte(), int, int)", BYTES),
            Map.entry("Conn#write(ByteBuffer())", SEVERAL),
            Map.entry("Conn#write(ByteBuffer(), int, int)", SEVERAL),
            Map.entry("Conn#write(MemorySegment())", SEVERAL),
            Map.entry("DatagramConn#read(ByteBuffer(), int, int)", SEVERAL),
            Map.entry("DatagramConn#read(MemorySegment())", SEVERAL),
            Map.entry("DatagramConn#write(MemorySegment)", SEGMENT),
            Map.entry("DatagramConn#write(ByteBuffer(), int, int)", SEVERAL),
            Map.entry("DatagramConn#write(MemorySegment())", SEVERAL),
            Map.entry("Gmp#close", "an interrupt ends it, close(Duration) is its limited form"),
            Map.entry("Task#join", "get and get(time) are Future's forms"),
            Map.entry("Task#get", "Future's: get(time), an interrupt ends it; joinUnless takes a context"),
            Map.entry("Select#run", "timeout is a case of it"),
            Map.entry("SelectOne#run", "timeout is a case of it"),
            Map.entry("LongChan#forEachLong", "a loop over recv, which has the forms"),
            Map.entry("Mutex#with", "lock has the forms; with is for the common case"),
            Map.entry("Mutex#withLock", "as with"),
            Map.entry("RWMutex#withRead", "rLock has the forms"),
            Map.entry("RWMutex#withWrite", "lock has the forms"),
            Map.entry("SingleFlight#run", "runChan gives a channel, which has the forms, for callers that may leave"),
            Map.entry("SingleFlight#runChan", "waits for no call, only for a lock that is held for some instructions"),
            Map.entry("Conn#close", "waits for those that it wakes; one that left early would leave the descriptor open"),
            Map.entry("Listener#close", "as Conn.close"),
            Map.entry("UnixListener#close", "as Conn.close"),
            Map.entry("UnixgramConn#close", "as Conn.close"),
            Map.entry("Listener#serve", "ends by close; accept has the forms"),
            Map.entry("Dialer#dial", "Dialer.timeout and deadline are its limits"),
            Map.entry("Dialer#dialUdp", "waits for a look-up of a name only, which Dialer.timeout limits"),
            Map.entry("TcpConn#dial", "short for Dialer.dial, which has the forms"),
            Map.entry("UdpConn#dial", "short for Dialer.dialUdp"),
            Map.entry("Synctest#test", "runs a test to its end"),
            Map.entry("Synctest#await", "waits for the goroutines of its own test, never for anything outside"),
            Map.entry("CpuProfiler#stop", "waits for the sampler to finish one look"),
            Map.entry("CpuProfiler#close", "as stop"),
            Map.entry("Trace#stop", "waits until the file is written"),
            Map.entry("Trace#close", "as stop"),
            Map.entry("GmpMXBean#profile", "its seconds are the limit"),
            Map.entry("GmpMXBean#profilePprof", "as GmpMXBean.profile"),
            Map.entry("GmpMXBean#trace", "as GmpMXBean.profile"),
            Map.entry("JmxBean#profile", "as GmpMXBean.profile"),
            Map.entry("JmxBean#profilePprof", "as GmpMXBean.profile"),
            Map.entry("JmxBean#trace", "as GmpMXBean.profile"),
            Map.entry("LeakCheck#assertNoLeaks", "its argument is the limit"));

    private static final List<Member> MEMBERS = members();

    private static List<Member> members() {
        try {
            return ApiSources.members();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Member> waiting() throws IOException {
        CallGraph graph = CallGraph.of(CLASSES, NO_WAITS);
        List<Member> waiting = MEMBERS.stream().filter(m -> m.isMethod() && !m.name().startsWith("try")
                && graph.parks(m.owner(), m.name(), m.types().size())).toList();
        Set<String> names = new TreeSet<>(waiting.stream().map(ContractTest::key).toList());
        assertTrue(names.containsAll(List.of("Chan#recv", "Mutex#lock", "Conn#read", "Go#sleep", "Gmp#run", "NativeEvent#await")),
                names::toString);
        return waiting;
    }

    private static String key(Member m) {
        return m.owner().substring(m.owner().lastIndexOf('.') + 1) + "#" + m.name();
    }

    /** A wait can be ended by an interrupt, a context and a time, each in a form of its own, or it stands in the list with the reason. */
    @Test
    void everyWaitHasItsForms() throws Exception {
        List<String> without = new ArrayList<>();
        Set<String> used = new TreeSet<>();
        for (Member m : waiting()) {
            if (!isForm(m)) {
                String missing = missing(m);
                String key = WITHOUT.containsKey(m.id()) ? m.id() : key(m);
                if (!missing.isEmpty() && !WITHOUT.containsKey(key)) {
                    without.add(m.id() + " has no form" + missing);
                } else if (!missing.isEmpty()) {
                    used.add(key);
                }
            }
        }
        assertEquals(List.of(), without);
        Set<String> stale = new TreeSet<>(WITHOUT.keySet());
        stale.removeAll(used);
        assertEquals(Set.of(), stale, "in the list, and have all forms, or do not wait");
    }

    private static boolean isForm(Member m) {
        return m.name().endsWith("Interruptibly") || m.name().endsWith("Unless") || m.name().endsWith("Within")
                || m.types().stream().anyMatch(t -> t.equals("Cancelable") || t.equals("Context"));
    }

    private static String missing(Member m) throws ClassNotFoundException {
        StringBuilder missing = new StringBuilder();
        if (!has(m, "Interruptibly", Set.of())) {
            missing.append(" …Interruptibly");
        }
        if (!has(m, "Unless", Set.of("Cancelable", "Context"))) {
            missing.append(" …Unless");
        }
        if (!has(m, "Within", Set.of("Duration"))) {
            missing.append(" …Within");
        }
        return missing.toString();
    }

    /**
     * Whether there is a method with this suffix, or one of the same name with a parameter of such a type, that otherwise takes what this
     * one
     * takes: an overload has forms of its own.
     */
    private static boolean has(Member m, String suffix, Set<String> ends) throws ClassNotFoundException {
        Class<?> owner = load(m.owner());
        List<String> types = m.types().stream().map(ContractTest::plain).toList();
        for (Member f : MEMBERS) {
            boolean suffixed = f.name().equals(m.name() + suffix);
            if (!f.isMethod() || !suffixed && !f.name().equals(m.name()) || !load(f.owner()).isAssignableFrom(owner)) {
                continue;
            }
            List<String> others = new ArrayList<>(f.types().stream().map(ContractTest::plain).toList());
            boolean removed = ends.stream().anyMatch(others::remove); // One of them.
            if ((suffixed || removed) && same(types, others)) {
                return true;
            }
        }
        return false;
    }

    /** A type without annotations and type arguments. */
    private static String plain(String type) {
        return type.replaceAll("@\\w+ ", "").replaceAll("<.*>", "").strip();
    }

    /** Whether the types are the same; a type variable may stand for any. */
    private static boolean same(List<String> a, List<String> b) {
        return a.size() == b.size() && IntStream.range(0, a.size()).allMatch(i -> a.get(i).equals(b.get(i))
                || a.get(i).length() == 1 || b.get(i).length() == 1);
    }

    /** Each such form is used where all kinds of threads and all endings meet. */
    @Test
    void everyFormIsCrossed() throws Exception {
        Map<String, Set<Class<?>>> used = new TreeMap<>();
        for (String test : List.of("EndingsTest", "net/NetEndingsTest", "sync/LockEndingsTest")) {
            for (PoolEntry e : ClassFile.of().parse(TEST_CLASSES.resolve(test + ".class")).constantPool()) {
                if (e instanceof MemberRefEntry r && r.owner().asInternalName().startsWith("org/gmp4j/")) {
                    boolean _ = used.computeIfAbsent(r.name().stringValue(), _ -> new HashSet<>())
                            .add(load(r.owner().asInternalName().replace('/', '.')));
                }
            }
        }
        List<String> unused = new ArrayList<>();
        List<Member> forms = waiting().stream().filter(ContractTest::isForm).toList();
        assertTrue(forms.size() > 80, forms.size() + " forms");
        for (Member m : forms) {
            Class<?> owner = load(m.owner());
            if (used.getOrDefault(m.name(), Set.of()).stream().noneMatch(c -> owner.isAssignableFrom(c) || c.isAssignableFrom(owner))) {
                unused.add(m.id());
            }
        }
        assertEquals(List.of(), unused);
    }

    private static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, false, ContractTest.class.getClassLoader());
    }

    /** The package, the comment of a method that waits, or that of the one whose form it is, says who may call it and what ends it. */
    @Test
    void everyWaitSaysWhoMayWaitAndWhatEndsIt() throws IOException {
        Set<String> packages = new TreeSet<>();
        for (Path p : ApiSources.packages()) {
            String name = Path.of("src/main/java").relativize(p).toString().replace('/', '.');
            if (packageSays(name)) {
                packages.add(name);
            }
        }
        assertEquals(Set.of("org.gmp4j", "org.gmp4j.net", "org.gmp4j.sync"), packages);
        List<String> silent = new ArrayList<>();
        for (Member m : waiting()) {
            if (!m.overrides() && !packages.contains(m.owner().substring(0, m.owner().lastIndexOf('.'))) && !says(m, 0)) {
                silent.add(m.id());
            }
        }
        assertEquals(List.of(), silent);
    }

    /** Whether the description of a package has all three words, and a section on waits or a link to a section that exists. */
    private static boolean packageSays(String name) throws IOException {
        String text = description(name);
        boolean section = text.contains("<h2 id=\"waits\">");
        Matcher link = SECTION.matcher(text);
        while (link.find()) {
            assertTrue(description(link.group(1)).contains("<h2 id=\"" + link.group(2) + "\">"), name + ": " + link.group());
            section = true;
        }
        return section && WORDS.stream().allMatch(text.toLowerCase(Locale.ROOT)::contains);
    }

    private static String description(String name) throws IOException {
        return Files.readString(Path.of("src/main/java", name.replace('.', '/'), "package-info.java"));
    }

    private static boolean says(Member m, int depth) {
        String comment = m.comment() == null ? "" : m.comment();
        String lower = comment.toLowerCase(Locale.ROOT);
        if (WORDS.stream().allMatch(lower::contains)) {
            return true;
        }
        Matcher as = Pattern.compile("(?:As|Like|The same as) \\{@link (\\w*)#(\\w+)").matcher(comment);
        if (depth == 2 || !as.find()) {
            return false;
        }
        String owner = as.group(1).isEmpty() ? m.owner() : "." + as.group(1);
        return MEMBERS.stream().anyMatch(
                b -> b.isMethod() && b.owner().endsWith(owner) && b.name().equals(as.group(2)) && says(b, depth + 1));
    }

    @Test
    void everythingHasAComment() {
        assertEquals(List.of(),
                MEMBERS.stream().filter(m -> !m.overrides() && (m.comment() == null || m.comment().isBlank())).map(Member::id).toList());
        assertTrue(MEMBERS.size() > 600, MEMBERS.size() + " members");
    }

    @Test
    void everyPackageSaysWhatMayBeNull() throws IOException {
        for (Path p : ApiSources.packages()) {
            assertTrue(Files.readString(p.resolve("package-info.java")).contains("\n@NullMarked\n"), p::toString);
        }
    }

    /** What the comment calls null is annotated. */
    @Test
    void whatMayBeNullIsAnnotated() {
        List<String> unmarked = new ArrayList<>();
        Pattern result = Pattern.compile("(?:^|[;.:,] |@return )[^@.;]{0,40}\\bnull (?:when|once|for|if|also|until|where)\\b");
        for (Member m : MEMBERS) {
            if (!m.isMethod() || m.comment() == null) {
                continue;
            }
            String text = m.comment().replaceAll("\\s+", " ").strip();
            String before = text.replaceAll("@(?:param|throws) [^@]*", "");
            boolean reference = m.returns() != null && !m.returns().strip().matches("void|int|long|boolean|double");
            boolean itself = m.returns() != null
                    && m.returns().strip().startsWith(m.owner().substring(m.owner().lastIndexOf('.') + 1)); // A builder.
            if (reference && !itself && result.matcher(before).find() && !m.returns().contains("Nullable")) {
                unmarked.add(m.id() + " returns " + m.returns() + ": " + before);
            }
            Matcher p = Pattern.compile("@param (\\w+) [^@]*\\bnull (?:for|to|goes|when|is no|never goes)\\b").matcher(text);
            if (p.find() && m.types().stream().noneMatch(t -> t.contains("Nullable"))) {
                unmarked.add(m.id() + " takes " + p.group());
            }
        }
        assertEquals(List.of(), unmarked);
    }
}
