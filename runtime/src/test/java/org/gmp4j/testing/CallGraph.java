// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which methods of our classes call which, to find those that can come to a park. A call of an abstract method is one of all that
 * implement it here. What runs later, bodies of lambdas, is not followed: most of them run on another goroutine.
 */
public final class CallGraph {
    /** A method: the class with dots, the name, the descriptor. */
    private record Ref(String owner, String name, String type) {
        @Override
        public String toString() {
            return owner.substring(owner.lastIndexOf('.') + 1) + "#" + name;
        }
    }

    private record Unit(List<String> supers, Map<Ref, Set<Ref>> calls, Set<Ref> withoutBody, Set<Ref> visible) {
    }

    /** Where goroutines and threads wait. */
    private static final Set<String> PARKS = Set.of("Park#gopark", "Waiting#await", "Waiting#park", "Waiting#rest", "TimerHeaps#sleep",
            "CountDownLatch#await", "Thread#sleep", "Thread#join", "Object#wait", "LockSupport#park", "LockSupport#parkNanos");

    private final Map<String, Unit> units = new HashMap<>();
    private final Map<String, List<String>> subs = new HashMap<>();
    private final Set<String> ignored;
    /** Of a method that can come to a park the call that leads there. */
    private final Map<Ref, Ref> towards = new HashMap<>();

    private CallGraph(Set<String> ignored) {
        this.ignored = ignored;
    }

    /**
     * Of all classes below a directory.
     *
     * @param ignored methods, as {@code Class#name}, that are not followed
     */
    public static CallGraph of(Path dir, Set<String> ignored) throws IOException {
        CallGraph g = new CallGraph(ignored);
        try (Stream<Path> all = Files.walk(dir)) {
            for (Path f : all.filter(f -> f.toString().endsWith(".class")).toList()) {
                g.add(ClassFile.of().parse(f));
            }
        }
        g.units.forEach((name, u) -> u.supers.forEach(s -> g.subs.computeIfAbsent(s, _ -> new ArrayList<>()).add(name)));
        g.search();
        return g;
    }

    private void add(ClassModel c) {
        String owner = c.thisClass().asInternalName().replace('/', '.');
        List<String> supers = new ArrayList<>();
        c.superclass().ifPresent(s -> supers.add(s.asInternalName().replace('/', '.')));
        c.interfaces().forEach(i -> supers.add(i.asInternalName().replace('/', '.')));
        Unit u = new Unit(supers, new HashMap<>(), new HashSet<>(), new HashSet<>());
        for (MethodModel m : c.methods()) {
            Ref me = new Ref(owner, m.methodName().stringValue(), m.methodType().stringValue());
            Set<Ref> calls = new HashSet<>();
            m.code().ifPresentOrElse(code -> code.forEach(e -> {
                if (e instanceof InvokeInstruction i) {
                    boolean _ = calls.add(
                            new Ref(i.owner().asInternalName().replace('/', '.'), i.name().stringValue(), i.type().stringValue()));
                }
            }), () -> u.withoutBody.add(me));
            u.calls.put(me, calls);
            if (m.flags().has(AccessFlag.PUBLIC) && !m.flags().has(AccessFlag.SYNTHETIC)) {
                boolean _ = u.visible.add(me);
            }
        }
        units.put(owner, u);
    }

    /** Whether a public method of this name, with so many parameters, can come to a park. */
    public boolean parks(String owner, String name, int parameters) {
        return path(owner, name, parameters) != null;
    }

    /** How it does, from call to call; null if it cannot. */
    public String path(String owner, String name, int parameters) {
        for (Ref r : units.get(owner).visible) {
            if (r.name.equals(name) && MethodTypeDesc.ofDescriptor(r.type).parameterCount() == parameters) {
                for (Ref body : bodies(r)) {
                    if (towards.containsKey(body)) {
                        StringBuilder path = new StringBuilder(body.toString());
                        for (Object to = towards.get(body); to != null; to = towards.get(to)) {
                            path.append(" > ").append(to);
                        }
                        return path.toString();
                    }
                }
            }
        }
        return null;
    }

    /** From all that park themselves back to their callers, the nearest first. */
    private void search() {
        Map<Ref, List<Ref>> callers = new HashMap<>();
        Deque<Ref> next = new ArrayDeque<>();
        units.values().forEach(u -> u.calls.forEach((from, calls) -> {
            for (Ref called : calls) {
                if (PARKS.contains(called.toString())) {
                    if (towards.putIfAbsent(from, called) == null) {
                        next.add(from);
                    }
                } else if (!ignored.contains(called.toString())) {
                    bodies(called).forEach(body -> callers.computeIfAbsent(body, _ -> new ArrayList<>()).add(from));
                }
            }
        }));
        for (Ref r = next.poll(); r != null; r = next.poll()) {
            for (Ref caller : callers.getOrDefault(r, List.of())) {
                if (towards.putIfAbsent(caller, r) == null) {
                    next.add(caller);
                }
            }
        }
    }

    /** What may run when a method of ours is called. */
    private List<Ref> bodies(Ref r) {
        Ref found = up(r.owner, r);
        if (found == null) {
            return List.of();
        }
        if (!units.get(found.owner).withoutBody.contains(found)) {
            return List.of(found);
        }
        List<Ref> all = new ArrayList<>();
        down(r.owner, r, all);
        return all;
    }

    private Ref up(String owner, Ref r) {
        Unit u = units.get(owner);
        if (u == null) {
            return null;
        }
        Ref here = new Ref(owner, r.name, r.type);
        if (u.calls.containsKey(here)) {
            return here;
        }
        for (String s : u.supers) {
            Ref there = up(s, r);
            if (there != null) {
                return there;
            }
        }
        return null;
    }

    private void down(String owner, Ref r, List<Ref> all) {
        for (String sub : subs.getOrDefault(owner, List.of())) {
            Ref here = new Ref(sub, r.name, r.type);
            Unit u = units.get(sub);
            if (u.calls.containsKey(here) && !u.withoutBody.contains(here)) {
                all.add(here);
            }
            down(sub, r, all);
        }
    }
}
