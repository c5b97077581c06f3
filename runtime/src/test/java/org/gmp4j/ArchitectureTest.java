// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import org.gmp4j.ffi.Memory;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** The floors of {@code ARCHITECTURE.md}: each uses what is below it; and what of it the world sees. */
class ArchitectureTest {
    private static final String ROOT = "org.gmp4j";

    private static final Path PAGE = Path.of("ARCHITECTURE.md");

    /** By package; from the table in the page. */
    private static final Map<String, Integer> FLOORS = floors();

    /** The part of the root package that is on floor 6; the rest is on 7. */
    private static final Set<String> ROOT_6 = Set.of("Go", "Chan", "LongChan", "SendChan", "RecvChan", "Task");

    /** The part that knows nothing, for all to throw and to take. */
    private static final Set<String> ROOT_1 = Set.of("Cancelable", "ChanClosedException", "WaitInterruptedException");

    /** What stands in the root package beside the API: users of members of {@code Gmp} or {@code Chan} that are not public; a program. */
    private static final Set<String> BESIDE_THE_API = Set.of("AgentRuntime", "ChanQueue", "DefaultGmp", "PoolSettings", "Program",
            "Settings", "Hello");

    private static final Set<String> EXPORTED = Set.of("", "sync", "time", "context", "synctest", "net", "affinity",
            "metrics", "trace", "memory");

    /** The classes that know what the JDK keeps to itself, their tools, one that carries a field, and the two of raw access to structs. */
    private static final Set<String> PRIVATE_MEMBERS = Set.of("stack.JdkMembers", "stack.JdkPollers",
            "stack.JdkShutdown", "stack.FinalReferenceHolder", "stack.JdkFrames", "stack.Bystanders", "agent.JdkPoint", "agent.JdkAccess");
    private static final Set<String> INTERNAL_TYPES = Set.of("stack.JdkThreads", "stack.JdkMembers", "stack.ThreadCalls",
            "stack.SwitchCalls", "stack.JdkContainer", "stack.JdkScheduler", "stack.LeafCalls", "stack.Stack", "struct.RawInt",
            "struct.RawLong", "struct.Heap", "struct.HeapInt", "struct.HeapLong", "struct.HeapRef");

    private static final Path SCHED_USES = Path.of("src/test/resources/sched-uses.txt");

    /** The loop: Go's {@code schedule}, {@code findRunnable}, {@code startm} and {@code mstart} are a circle, and so are ours. */
    private static final Set<String> LOOP = Set.of("Bubble", "FindRunnable", "GStack", "Goexit0", "GoroutineExit", "Inject",
            "Mcall", "Newm", "Newproc", "Park", "Preempt", "Schedule", "Shortage", "StopTheWorld", "Syscall", "Threads", "Wakep");

    /** The state of the loop: a scheduler, its Ms and its interfaces refer to each other, as Go's {@code sched} and {@code m} do. */
    private static final Set<String> STATE = Set.of("Allm", "ClosingNotes", "Collected", "Gcount", "Machine", "Netpoll", "Reports",
            "Scheduler", "StackMaker");

    /** What sysmon may know of the loop that it watches. */
    private static final Set<String> WATCHED = Set.of("Scheduler", "Machine", "Processor", "Monitor", "Upkeep",
            "SliceClock", "Preempt", "Gate", "Threads", "Netpoll", "Recorder");

    /** What waiting may use: parking, what holds off checkdead, and the end of a goroutine that is waited for. */
    private static final Set<String> PARKING = Set.of("GStack", "Park", "Outside", "Scheduler", "Bubble", "InterruptHook", "Awaited");

    /** What a policy may use of others, and what it may not use all the same: clocks, threads and the machine. */
    private static final Set<String> OF_VALUES = Set.of("java.lang", "java.lang.invoke", "java.lang.runtime", "java.util",
            "org.jspecify.annotations");
    private static final Set<String> NOT_VALUES = Set.of("java.lang.System", "java.lang.Thread", "java.lang.Runtime",
            "java.lang.invoke.VarHandle", "java.lang.invoke.LambdaMetafactory", "java.lang.Runnable");

    private static final Path CLASSES = classes(Gmp.class);
    private static final JavaClasses ALL = read(CLASSES);
    private static final JavaClasses BINDINGS = read(classes(Memory.class));

    private static String page() {
        try {
            return Files.readString(PAGE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, Integer> floors() {
        Map<String, Integer> floors = new TreeMap<>();
        Matcher row = Pattern.compile("(?m)^\\| (\\d) \\| ([^|]*) \\|").matcher(page());
        while (row.find()) {
            for (String room : row.group(2).replace("`", "").split(", ")) {
                floors.put(room, Integer.valueOf(row.group(1)));
            }
        }
        return floors;
    }

    private static Path classes(Class<?> of) {
        try {
            return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** From a directory, or the jar that a packaged build has. */
    private static JavaClasses read(Path classes) {
        ClassFileImporter importer = new ClassFileImporter();
        if (Files.isDirectory(classes)) {
            return importer.importPath(classes);
        }
        try (JarFile jar = new JarFile(classes.toFile())) {
            return importer.importJar(jar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean ours(JavaClass c) {
        return c.getPackageName().equals(ROOT) || c.getPackageName().startsWith(ROOT + ".");
    }

    private static String top(JavaClass c) {
        return c.getName().substring(c.getPackageName().length() + 1).replaceAll("\\$.*", "");
    }

    /** The room of a class: its package below the root, which is two. The packages of the bindings are one. */
    private static String room(JavaClass c) {
        if (c.getPackageName().equals(ROOT)) {
            return ROOT_1.contains(top(c)) ? "root1" : ROOT_6.contains(top(c)) ? "root6" : "root7";
        }
        String room = c.getPackageName().substring(ROOT.length() + 1);
        return room.startsWith("ffi.") ? "ffi" : room;
    }

    private static int floor(String room) {
        return switch (room) {
            case "root1" -> 1;
            case "root6" -> 6;
            case "root7" -> 7;
            default -> {
                Integer floor = FLOORS.get(room);
                assertTrue(floor != null, "package " + room + " is on no floor: see " + PAGE);
                yield floor;
            }
        };
    }

    /** From each room the rooms it uses, with each use. */
    private static Map<String, Map<String, Set<String>>> uses() {
        Map<String, Map<String, Set<String>>> uses = new TreeMap<>();
        for (JavaClass c : ALL) {
            for (Dependency d : c.getDirectDependenciesFromSelf()) {
                JavaClass target = d.getTargetClass().getBaseComponentType();
                if (ours(target) && !room(target).equals(room(c))) {
                    uses.computeIfAbsent(room(c), k -> new TreeMap<>()).computeIfAbsent(room(target), k -> new TreeSet<>())
                            .add(top(c) + " -> " + top(target));
                }
            }
        }
        return uses;
    }

    @Test
    void eachFloorUsesWhatIsBelow() {
        assertTrue(ALL.size() > 50, "no classes in " + CLASSES);
        List<String> upwards = new ArrayList<>();
        uses().forEach((from, to) -> to.forEach((room, examples) -> {
            if (floor(room) > floor(from)) {
                upwards.add(from + " -> " + room + ": " + examples);
            }
        }));
        assertEquals(List.of(), upwards);
    }

    /** Sysmon watches Ms and Ps from outside; what else of the loop it is to do is named in {@code Upkeep}. */
    @Test
    void sysmonKnowsLittleOfTheLoop() {
        assertEquals(new TreeSet<>(WATCHED), knownOfScheduler("sysmon"));
    }

    @Test
    void waitingKnowsHowToParkAndNoMore() {
        assertEquals(new TreeSet<>(PARKING), knownOfScheduler("wait"));
    }

    /** The scheduler's rooms, and what prepares the JVM for it. */
    private static boolean isScheduler(String room) {
        return room.equals("sched") || room.startsWith("sched.") || room.equals("boot");
    }

    /** From each file of the scheduler, by room and name, the others that it uses, by name. */
    private static Map<String, Set<String>> schedulerUses() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass c : ALL) {
            if (ours(c) && isScheduler(room(c)) && !top(c).equals("package-info")) {
                Set<String> known = uses.computeIfAbsent(room(c) + "." + top(c), _ -> new TreeSet<>());
                for (Dependency d : c.getDirectDependenciesFromSelf()) {
                    JavaClass target = d.getTargetClass().getBaseComponentType();
                    if (ours(target) && isScheduler(room(target)) && !top(target).equals(top(c))) {
                        known.add(top(target));
                    }
                }
            }
        }
        return uses;
    }

    /**
     * Which files of the scheduler know which others stands in a file: what one more uses is seen when it changes, and a use that is gone
     * leaves.
     */
    @Test
    void filesOfTheSchedulerKnowNoMore() throws IOException {
        List<String> lines = new ArrayList<>();
        schedulerUses().forEach((from, to) -> lines.add((from + ": " + String.join(" ", to)).strip()));
        List<String> stated = Files.readAllLines(SCHED_USES).stream().filter(l -> !l.startsWith("#")).map(String::strip).toList();
        List<String> changed = new ArrayList<>();
        lines.stream().filter(l -> !stated.contains(l)).forEach(l -> changed.add("+ " + l));
        stated.stream().filter(l -> !lines.contains(l)).forEach(l -> changed.add("- " + l));
        assertEquals(List.of(), changed, "in " + SCHED_USES);
    }

    /** A call goes in one direction between the files of the scheduler, but in the loop and between the objects of its state. */
    @Test
    void onlyTheLoopIsACircle() {
        Map<String, Set<String>> uses = new TreeMap<>();
        schedulerUses().forEach((from, to) -> uses.put(from.replaceFirst(".*\\.", ""), to));
        Set<Set<String>> circles = new HashSet<>();
        for (String file : uses.keySet()) {
            Set<String> circle = reached(uses, file);
            circle.removeIf(other -> !reached(uses, other).contains(file));
            if (!circle.isEmpty()) {
                circles.add(circle);
            }
        }
        assertEquals(Set.of(new TreeSet<>(LOOP), new TreeSet<>(STATE)), circles);
    }

    /** The files that are reached from one by one use or more. */
    private static Set<String> reached(Map<String, Set<String>> uses, String from) {
        Set<String> reached = new TreeSet<>();
        List<String> todo = new ArrayList<>(uses.get(from));
        while (!todo.isEmpty()) {
            String next = todo.removeLast();
            if (reached.add(next)) {
                todo.addAll(uses.get(next));
            }
        }
        return reached;
    }

    /** A policy computes a choice from values, and its callers call it directly. */
    @Test
    void policiesDecideFromValues() {
        List<String> wrong = new ArrayList<>();
        Set<String> policies = new TreeSet<>();
        for (JavaClass c : ALL) {
            if (!ours(c) || !room(c).equals("policy") || top(c).equals("package-info")) {
                continue;
            }
            policies.add(top(c));
            if (!c.getModifiers().contains(JavaModifier.FINAL)) {
                wrong.add(c.getName() + " is not final");
            }
            for (Dependency d : c.getDirectDependenciesFromSelf()) {
                JavaClass target = d.getTargetClass().getBaseComponentType();
                boolean isValue = ours(target) ? room(target).equals("policy")
                        : target.isPrimitive() || OF_VALUES.contains(target.getPackageName());
                if (!isValue || NOT_VALUES.contains(target.getName())) {
                    wrong.add(c.getName() + " uses " + target.getName());
                }
            }
            for (JavaMember member : c.getMembers()) {
                if (member.getModifiers().contains(JavaModifier.VOLATILE) || member.getModifiers().contains(JavaModifier.SYNCHRONIZED)) {
                    wrong.add(member.getFullName());
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(policies.size() > 1, policies::toString);
    }

    /** A policy that has a table of rules has a test that runs the whole table. */
    @Test
    void eachTableOfAPolicyIsRun() throws IOException {
        List<String> notRun = new ArrayList<>();
        int tables = 0;
        try (Stream<Path> policies = Files.list(Path.of("src/main/java/org/gmp4j/policy"))) {
            for (Path p : (Iterable<Path>) policies::iterator) {
                if (Files.readString(p).contains("* <table>")) {
                    tables++;
                    String name = p.getFileName().toString().replace(".java", "");
                    Path test = Path.of("src/test/java/org/gmp4j/policy", name + "Test.java");
                    Pattern run = Pattern.compile("(?s)RuleTable\\.of\\(" + name + "\\.class\\).*\\.end\\(\\);");
                    if (!Files.exists(test) || !run.matcher(Files.readString(test)).find()) {
                        notRun.add(name);
                    }
                }
            }
        }
        assertEquals(List.of(), notRun);
        assertTrue(tables > 8, "only " + tables);
    }

    /** The files of the scheduler that another room uses. */
    private static Set<String> knownOfScheduler(String from) {
        Set<String> known = new TreeSet<>();
        uses().get(from).forEach((room, uses) -> {
            if (isScheduler(room)) {
                uses.forEach(use -> known.add(use.replaceFirst(".* -> ", "")));
            }
        });
        return known;
    }

    /** The agent must load in a JVM that has nothing else of ours yet; the boundary to the JDK needs of it no tools for class files. */
    @Test
    void classFilesAreWrittenWithoutTheRest() {
        assertEquals(Set.of(), uses().getOrDefault("classfile", Map.of()).keySet());
        assertEquals(Set.of("classfile"), uses().get("agent").keySet());
        assertEquals(Set.of("classfile", "ffi"), uses().get("stack").keySet());
    }

    /** Two rooms on one floor: one may use the other, not both each other, nor in a circle. */
    @Test
    void noCircles() {
        Map<String, Map<String, Set<String>>> uses = uses();
        List<String> circles = new ArrayList<>();
        for (String start : uses.keySet()) {
            Set<String> reached = new TreeSet<>();
            List<String> todo = new ArrayList<>(uses.get(start).keySet());
            while (!todo.isEmpty()) {
                String room = todo.removeLast();
                if (reached.add(room)) {
                    todo.addAll(uses.getOrDefault(room, Map.of()).keySet());
                }
            }
            if (reached.contains(start)) {
                circles.add(start + " reaches itself through " + uses.get(start));
            }
        }
        assertEquals(List.of(), circles);
    }

    /** What the JDK does not offer is the business of few classes: a new release means reading those. */
    @Test
    void fewClassesTouchTheJdksInside() {
        Set<String> types = new TreeSet<>();
        Set<String> members = new TreeSet<>();
        for (JavaClass c : ALL) {
            String name = c.getPackageName().substring(ROOT.length()).replaceFirst("^\\.", "") + "." + top(c);
            for (Dependency d : c.getDirectDependenciesFromSelf()) {
                String p = d.getTargetClass().getBaseComponentType().getPackageName();
                if (p.startsWith("jdk.internal.") || p.startsWith("sun.")) {
                    types.add(name);
                }
            }
            for (JavaMethodCall call : c.getMethodCallsFromSelf()) {
                String m = call.getTarget().getName();
                if (m.equals("setAccessible") || m.equals("trySetAccessible") || m.equals("privateLookupIn")) {
                    members.add(name);
                }
            }
        }
        assertEquals(new TreeSet<>(INTERNAL_TYPES), types);
        assertEquals(new TreeSet<>(PRIVATE_MEMBERS), members);
    }

    /** A library that a program need not have is named by the one class that binds it. */
    @Test
    void optionalLibrariesAreBehindOneClassEach() {
        Map<String, Set<String>> users = new TreeMap<>();
        for (JavaClass c : ALL) {
            for (Dependency d : c.getDirectDependenciesFromSelf()) {
                String p = d.getTargetClass().getBaseComponentType().getPackageName();
                if (!p.startsWith(ROOT) && !p.startsWith("java") && !p.startsWith("jdk.") && !p.startsWith("sun.") && !p.isEmpty()) {
                    users.computeIfAbsent(p.replaceAll("^(\\w+\\.\\w+).*", "$1"), k -> new TreeSet<>()).add(top(c));
                }
            }
        }
        users.remove("org.jspecify"); // Annotations.
        users.remove("com.sun"); // The server of the module jdk.httpserver.
        assertEquals(Map.of("io.micrometer", Set.of("MicrometerBinder"), "io.opentelemetry", Set.of("OpenTelemetryBinder")), users);
    }

    /** NullAway looks at marked packages only. */
    @Test
    void eachPackageSaysWhatMayBeNull() {
        Set<String> unmarked = new TreeSet<>();
        for (JavaClass c : ALL) {
            if (!c.getPackage().isAnnotatedWith(NullMarked.class)) {
                unmarked.add(c.getPackageName());
            }
        }
        assertEquals(Set.of(), unmarked);
    }

    /** The module of the bindings stands on java.base alone. */
    @Test
    void theBindingsDependOnNothing() {
        assertTrue(BINDINGS.size() > 20, "no classes of the bindings");
        noClasses().should().dependOnClassesThat().resideOutsideOfPackages("java..", "org.gmp4j.ffi..").check(BINDINGS);
        ModuleDescriptor module = module(classes(Memory.class));
        assertEquals(Set.of("java.base"), module.requires().stream().map(ModuleDescriptor.Requires::name)
                .collect(Collectors.toSet()));
    }

    /** A thread of the runtime's that is of another class would hold back the report of a deadlock. */
    @Test
    void theRuntimesThreadsAreOwnThreads() {
        ArchRuleDefinition.classes().that().areAssignableTo(Thread.class).should().beAssignableTo("org.gmp4j.stack.OwnThread").check(ALL);
    }

    /** The generated bindings of the kernel are reached through the hand-written layer, whose errors have names. */
    @Test
    void theKernelOnlyThroughFfi() {
        noClasses().should().dependOnClassesThat().resideInAPackage("org.gmp4j.ffi.linux..").check(ALL);
    }

    private static ModuleDescriptor module(Path classes) {
        return ModuleFinder.of(classes).findAll().iterator().next().descriptor();
    }

    @Test
    void onlyTheApiIsExported() {
        ModuleDescriptor module = module(CLASSES);
        for (ModuleDescriptor.Exports e : module.exports()) {
            boolean agent = e.source().equals("org.gmp4j.agent") && e.targets().equals(Set.of("java.instrument"));
            assertTrue(agent || e.source().equals(ROOT) || EXPORTED.contains(e.source().substring(ROOT.length() + 1)), e::toString);
        }
        assertTrue(module.opens().isEmpty());
    }

    @Test
    void theRootHasTheApi() {
        Set<String> inside = ALL.stream().filter(c -> c.getPackageName().equals(ROOT) && c.isTopLevelClass())
                .filter(c -> !c.getModifiers().contains(JavaModifier.PUBLIC)).map(ArchitectureTest::top)
                .filter(name -> !name.equals("package-info")).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(BESIDE_THE_API), inside);
    }

    /** Every class, and every member of one, that the page names is there: {@code room/Class.member}. */
    @Test
    void thePageNamesWhatIsThere() {
        Set<String> missing = new TreeSet<>();
        int found = 0;
        Matcher name = Pattern.compile("`(?:([a-z.]+)/)?([A-Z][a-z]\\w*)(?:\\.(\\w+))?`").matcher(page());
        while (name.find()) {
            String room = name.group(1);
            String member = name.group(3);
            boolean there = ALL.stream().filter(c -> c.getSimpleName().equals(name.group(2)))
                    .filter(c -> room == null || room(c).equals(room))
                    .anyMatch(c -> member == null || c.getAllMembers().stream().anyMatch(m -> m.getName().equals(member)));
            if (there) {
                found++;
            } else if (!name.group(2).endsWith("Test") && !name.group(2).endsWith("Stress")) {
                missing.add(name.group());
            }
        }
        assertEquals(Set.of(), missing);
        assertTrue(found > 40, "only " + found + " names in " + PAGE);
    }

    /** Each invariant of the page is looked for by {@code check/}, with a fault in {@code InvariantsTest}, or has tests of its own. */
    @Test
    void eachInvariantIsSeenBySomething() throws IOException {
        StringBuilder checks = new StringBuilder();
        try (Stream<Path> files = Files.list(Path.of("src/main/java/org/gmp4j/check"))) {
            for (Path p : (Iterable<Path>) files::iterator) {
                checks.append(Files.readString(p));
            }
        }
        String faults = Files.readString(Path.of("src/test/java/org/gmp4j/check/InvariantsTest.java"));
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        Matcher row = Pattern.compile("(?m)^\\| \\*\\*([GMPR]\\d)\\*\\* \\|.*\\| ([^|]*) \\|$").matcher(page());
        for (; row.find(); rows++) {
            String name = row.group(1);
            List<String> tests = Pattern.compile("`(\\w+(?:Test|Stress))`").matcher(row.group(2)).results().map(r -> r.group(1)).toList();
            boolean looked = checks.indexOf("\"" + name + "\"") >= 0 && faults.contains("\"" + name);
            if (tests.isEmpty() ? !looked : !tests.stream().allMatch(ArchitectureTest::isTest)) {
                wrong.add(row.group());
            }
        }
        assertEquals(List.of(), wrong);
        assertEquals(26, rows);
    }

    private static boolean isTest(String name) {
        for (String root : new String[] {"src/test/java", "../bench/src/jcstress/java"}) {
            try (Stream<Path> files = Files.walk(Path.of(root))) {
                if (files.anyMatch(p -> p.getFileName().toString().equals(name + ".java"))) {
                    return true;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return false;
    }

    /** Files that the page names by their place in the repository are there. */
    @Test
    void thePageNamesFilesThatAreThere() {
        Matcher name = Pattern.compile("`((?:c-shims|bench|runtime|native-bindings)/[\\w./-]+)`").matcher(page());
        int files = 0;
        for (; name.find(); files++) {
            assertTrue(Files.exists(Path.of("..", name.group(1))), name.group());
        }
        assertTrue(files > 1, "only " + files);
    }

    /** What the exported packages show to the world is made of what the world can see. */
    @Test
    void theApiShowsNothingInternal() {
        Set<String> leaks = new TreeSet<>();
        for (JavaClass c : ALL) {
            String room = c.getPackageName().equals(ROOT) ? "" : room(c);
            if (!EXPORTED.contains(room) || !c.getModifiers().contains(JavaModifier.PUBLIC)) {
                continue;
            }
            for (JavaMethod m : c.getMethods()) {
                boolean seen = m.getModifiers().contains(JavaModifier.PUBLIC)
                        && !m.getModifiers().contains(JavaModifier.SYNTHETIC);
                List<JavaClass> types = new ArrayList<>(m.getRawParameterTypes());
                types.add(m.getRawReturnType());
                for (JavaClass t : types) {
                    JavaClass type = t.getBaseComponentType();
                    boolean internal = ours(type) && !type.getPackageName().equals(ROOT) && !EXPORTED.contains(room(type));
                    if (seen && internal) {
                        leaks.add(m.getFullName() + " shows " + type.getName());
                    }
                }
            }
        }
        assertEquals(Set.of(), leaks);
    }
}
