// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The table of all names of classes and methods that the rewriter knows. {@link #check} sees that each is there: a class that has moved
 * is an error that names the entry, and costs a line here.
 */
final class Names {
    private static final String ROOT = "org/gmp4j/";
    private static final String STRUCT = ROOT + "struct/";
    private static final String STACK = ROOT + "stack/";
    private static final String FFI = ROOT + "ffi/";
    private static final String FIND = ROOT + "sched/FindRunnable";
    private static final String SCHEDULE = ROOT + "sched/Schedule";
    private static final String HOOK = ROOT + "sched/jdk/InterruptHook";
    private static final String JDK = "java/lang/";
    private static final String WORLD = World.class.getName();
    private static final String MEMORY = Memory.class.getName();
    private static final String DESCRIPTORS = Descriptors.class.getName();
    private static final String DIGEST = Digest.class.getName();
    private static final String STACKS = JdkStacks.class.getName();

    /** The prefixes of classes that are rewritten. */
    static final String REWRITTEN = "org.gmp4j.";
    static final String STACK_CLASS = "org.gmp4j.stack.Stack";
    static final String PROGRAMS = "org.gmp4j.bench.replay.programs.";
    /** Prefixes of classes under {@link #REWRITTEN} that are used as they are. */
    static final List<String> AS_THEY_ARE = List.of("org.gmp4j.ffi.", "org.gmp4j.struct.Heap", "org.gmp4j.bench.");

    /** Packages whose plain fields are under locks, so that accesses to them are points. */
    private static final List<String> SHARED = List.of(ROOT + "queue/", ROOT + "wait/", ROOT + "timer/", ROOT + "sync/",
            ROOT + "netpoll/", ROOT + "chan/Hchan", ROOT + "chan/Select", ROOT + "LongChan", ROOT + "Select", PROGRAMS.replace('.', '/'));
    /** Classes in them that no other thread sees while a lane writes them. */
    private static final List<String> OWN = List.of(ROOT + "queue/StealWalk", ROOT + "queue/RandomOrder", ROOT + "queue/VictimOrder");
    private static final List<String> ACCESSORS = List.of(STRUCT + "IntField", STRUCT + "LongField", STRUCT + "LongRing");
    /** Classes whose methods access a field or an element of the object that is their first argument. */
    private static final Set<String> HANDLES = Set.of(JDK + "invoke/VarHandle", STRUCT + "HeapInt", STRUCT + "HeapLong",
            STRUCT + "HeapRef");
    /** Classes that pass an access on: the site is their caller's. */
    private static final List<String> WRAPPERS = List.of(STRUCT + "LongRing", STRUCT + "LongField");

    /**
     * What stands in place of a method's body.
     *
     * @param method the static method that is called; null if the body does nothing
     * @param owner its class
     * @param field the field of the receiver that is passed in place of the receiver; null for none
     * @param fieldType the field's descriptor
     * @param offset whether the field is an offset, to be added to the first argument
     * @param value what a body that does nothing returns
     */
    record Body(String owner, String method, String field, String fieldType, boolean offset, long value) {
        boolean nothing() {
            return method == null;
        }
    }

    /**
     * What is called in place of a method.
     *
     * @param receiver the descriptor of the first parameter, if the method is not static
     */
    record Call(String owner, String method, String receiver) {
    }

    private final Map<String, Body> bodies = new HashMap<>();
    private final Map<String, Call> calls = new HashMap<>();
    private final Map<String, Map<Integer, Integer>> constants = new HashMap<>();

    Names() {
        accessors(STRUCT + "RawInt", "Int");
        accessors(STRUCT + "RawLong", "Long");
        value(STRUCT + "RawInt", "<clinit>", 0);
        value(STRUCT + "RawLong", "<clinit>", 0);
        value(STRUCT + "Access", "isRaw", 1);
        body(STRUCT + "Mem$Arena", "take", MEMORY, "take", "stride", "J");
        body(STRUCT + "Mem$Arena", "give", MEMORY, "give");
        body(STRUCT + "ProcessFlag", "isSet", WORLD, "flag");
        value(STRUCT + "RetiredSched", "add", 0);
        value(STRUCT + "RetiredSched", "recycle", 0);
        value(STACK + "JdkThreads", "<clinit>", 0);
        value(STACK + "JdkThreads", "check", 0);
        body(STACK + "JdkThreads", "pin", STACKS, "pin");
        body(STACK + "JdkThreads", "unpin", STACKS, "unpin");
        value(STACK + "JdkThreads", "openToRuntime", 1);
        value(STACK + "JdkThreads", "openToUs", 0);
        value(STACK + "JdkThreads", "continuation", 0);
        value(STACK + "JdkThreads", "setContainer", 0);
        value(STACK + "JdkThreads", "idle", 0);
        value(STACK + "JdkThreads", "isIdle", 1);
        value(STACK + "JdkThreads", "forget", 0);
        value(STACK + "JdkThreads", "frozen", 0);
        value(STACK + "JdkThreads", "closeScopes", 0);
        value(STACK + "JdkThreads", "hasScopes", 0);
        value(STACK + "JdkThreads", "initialized", 1);
        value(STACK + "JdkThreads", "threadOf", 0);
        value(STACK + "JdkThreads", "unwrapped", 0);
        body(STACK + "JdkThreads", "newVirtualThread", STACKS, "make");
        body(STACK + "JdkThreads", "scheduler", STACKS, "scheduler");
        body(STACK + "JdkThreads", "runContinuation", STACKS, "continuation");
        body(STACK + "JdkThreads", "run", STACKS, "run");
        body(STACK + "JdkThreads", "yield", STACKS, "leave");
        body(STACK + "JdkState", "toRunning", STACKS, "toRunning");
        body(STACK + "JdkState", "toWaiting", STACKS, "toWaiting");
        body(STACK + "JdkState", "toYielded", STACKS, "toYielded");
        body(STACK + "JdkState", "jdkRunnable", STACKS, "isRunnable");
        body(STACK + "JdkState", "jdkYielded", STACKS, "hasYielded");
        body(STACK + "JdkState", "unpark", STACKS, "unparks");
        body(STACK + "JdkState", "afterYield", STACKS, "afterYield");
        body(STACK + "JdkState", "isNew", STACKS, "isNew");
        value(STACK + "JdkState", "isPinned", 0);
        value(STACK + "JdkState", "endsAtMonitor", 0);
        value(STACK + "JdkState", "afterDone", 1);
        body(STACK + "Stack", "ended", STACKS, "ended");
        value(STACK + "Headroom", "check", 0);
        value(STACK + "Headroom", "checkAll", 0);
        value(STACK + "Headroom", "checkAllToGive", 0);
        value(STACK + "Headroom", "left", Long.MAX_VALUE);
        value(STACK + "Headroom", "toTake", 0);
        value(STACK + "Headroom", "enough", 1);
        body(STACK + "Headroom", "runOn", STACKS, "runOn");
        body(ROOT + "sched/base/CleanStart", "start", STACKS, "start");
        value(ROOT + "sched/base/CleanStart", "begin", 0);
        value(ROOT + "sched/base/CleanStart", "hook", 0);
        value(ROOT + "sched/base/CleanStart", "prepareForLock", 0);
        value(ROOT + "sched/Preempt", "install", 0);
        value(ROOT + "sched/base/PreemptSignal", "follow", 0);
        value(ROOT + "sched/life/LiveSchedulers", "hook", 0);
        value(ROOT + "chan/LongBlock$Freeing", "run", 0);
        value(ROOT + "print/Stderr", "print", 0);
        value(ROOT + "print/Stderr", "tryPrint", 0);
        value(ROOT + "netpoll/FdRehearsal", "once", 0);
        body(STACK + "JdkPollers", "use", DESCRIPTORS, "use");
        value(STACK + "JdkPollers", "look", 0);
        value(ROOT + "sysmon/GcWatch", "look", 0);
        value(ROOT + "sysmon/Demand", "begin", 0);
        value(ROOT + "sysmon/ArmPoints", "overran", 0);
        value(ROOT + "sysmon/ArmPoints", "looked", 0);
        value(ROOT + "sysmon/ArmPoints", "close", 0);
        value(ROOT + "sched/upkeep/ProcsUpdate", "update", 0);

        call(FFI + "Futex", "await", WORLD, "await");
        call(FFI + "Futex", "wake", WORLD, "wake");
        call(FFI + "Memory", "map", MEMORY, "map");
        call(FFI + "Memory", "malloc", MEMORY, "malloc");
        call(FFI + "Memory", "free", MEMORY, "free");
        call(FFI + "Memory", "unmap", MEMORY, "drop");
        call(FFI + "Membarrier", "run", WORLD, "fence");
        call(JDK + "invoke/VarHandle", "fullFence", WORLD, "drain");
        call(FFI + "Membarrier", "isAvailable", WORLD, "yes");
        call(FFI + "OsThread", "gettid", WORLD, "tid");
        call(FFI + "OsThread", "cpuNanos", WORLD, "cpuNanos");
        call(FFI + "OsThread", "state", WORLD, "state");
        call(FFI + "OsThread", "setSlice", WORLD, "setSlice");
        call(FFI + "StackSpace", "trim", WORLD, "none");
        call(FFI + "Epoll", "create", DESCRIPTORS, "poller");
        call(FFI + "Epoll", "control", DESCRIPTORS, "control");
        call(FFI + "Epoll", "awaitNanos", DESCRIPTORS, "await");
        call(FFI + "EventFd", "create", DESCRIPTORS, "open");
        call(FFI + "EventFd", "add", DESCRIPTORS, "add");
        call(FFI + "EventFd", "take", DESCRIPTORS, "take");
        call(FFI + "Fd", "close", DESCRIPTORS, "close");
        call(FFI + "Fd", "release", DESCRIPTORS, "close");
        call(FFI + "SocketIo", "read", DESCRIPTORS, "read");
        call(FFI + "SocketIo", "send", DESCRIPTORS, "send");
        call(STACK + "JdkContainer", "deregister", WORLD, "ignore", "Ljava/lang/Object;");
        call(JDK + "System", "nanoTime", WORLD, "nanoTime");
        call(JDK + "System", "identityHashCode", WORLD, "number");
        call(JDK + "Runtime", "availableProcessors", WORLD, "processors", "Ljava/lang/Runtime;");
        call(JDK + "Integer", "getInteger", WORLD, "setting");
        for (String thread : List.of(JDK + "Thread", STACK + "Host$HostThread", STACK + "OwnThread")) {
            call(thread, "onSpinWait", WORLD, "pause");
            call(thread, "yield", WORLD, "pause");
            call(thread, "sleep", WORLD, "pause");
            call(thread, "currentThread", WORLD, "currentThread");
            call(thread, "startVirtualThread", WORLD, "startVirtual");
            call(thread, "interrupted", WORLD, "interrupted");
            call(thread, "isVirtual", WORLD, "isVirtual", "Ljava/lang/Thread;");
            call(thread, "isInterrupted", WORLD, "isInterrupted", "Ljava/lang/Thread;");
            call(thread, "interrupt", WORLD, "interrupt", "Ljava/lang/Thread;");
            call(thread, "isAlive", WORLD, "isAlive", "Ljava/lang/Thread;");
            call(thread, "join", WORLD, "join", "Ljava/lang/Thread;");
            call(thread, "start", WORLD, "start", "Ljava/lang/Thread;");
        }
        String selector = "Ljava/nio/channels/Selector;";
        call(HOOK, "begin", WORLD, "begins", selector);
        call(HOOK, "end", WORLD, "ends", selector);
        call(JDK + "Object", "wait", WORLD, "await", "Ljava/lang/Object;");
        call(JDK + "Object", "notifyAll", WORLD, "notifyAll", "Ljava/lang/Object;");
        String random = "java/util/concurrent/ThreadLocalRandom";
        call(random, "nextInt", WORLD, "random", "L" + random + ";");
        call(random, "nextLong", WORLD, "randomLong", "L" + random + ";");
        String support = "java/util/concurrent/locks/LockSupport";
        call(support, "park", STACKS, "park");
        call(support, "parkNanos", STACKS, "parkNanos");
        call(support, "unpark", STACKS, "unpark");

        call(STRUCT + "HeapInt", "of", DIGEST, "heapInt");
        call(STRUCT + "HeapLong", "of", DIGEST, "heapLong");
        call(STRUCT + "HeapRef", "of", DIGEST, "heapRef");

        constants.put(STRUCT + "GSlots", Map.of(10, 4, 1024, 16, 1023, 15));
        constants.put(STRUCT + "GSlots$Chunk", Map.of(1024, 16));
        constants.put(STRUCT + "SudogSlots", Map.of(9, 4, 512, 16, 511, 15));
        constants.put(ROOT + "queue/SudogCache", Map.of(128, 8, 64, 4));
        constants.put(ROOT + "queue/GFree", Map.of(64, 8, 32, 4));
        constants.put(ROOT + "policy/Steal", Map.of(3, 1)); // Two walks for four: one as the first ones, and the last.
        constants.put(ROOT + "queue/StealWalk", Map.of(4, 2));
        constants.put(ROOT + "lock/HeapMutex", Map.of(256, 4, 255, 3));
    }

    private void accessors(String owner, String kind) {
        for (String mode : List.of("getOpaque", "getAcquire", "getVolatile")) {
            accessor(owner, mode, "get" + kind, kind);
        }
        for (String mode : List.of("setOpaque", "setRelease")) {
            accessor(owner, mode, "set" + kind, kind);
        }
        accessor(owner, "setVolatile", "set" + kind + "Volatile", kind);
        accessor(owner, "get", "get" + kind + "Plain", kind);
        accessor(owner, "set", "set" + kind + "Plain", kind);
        accessor(owner, "compareAndSet", "cas" + kind, kind);
        accessor(owner, "getAndAdd", "add" + kind, kind);
        accessor(owner, "getAndSet", "swap" + kind, kind);
        if (kind.equals("Int")) {
            accessor(owner, "weakCompareAndSetRelease", "casInt", kind);
            accessor(owner, "getAndBitwiseOr", "orInt", kind);
            accessor(owner, "getAndBitwiseAnd", "andInt", kind);
        }
    }

    private void accessor(String owner, String name, String method, String kind) {
        bodies.put(owner + "." + name, new Body(MEMORY, method, "offset", "J", true, 0));
    }

    private void body(String owner, String name, String by, String method) {
        bodies.put(owner + "." + name, new Body(by, method, null, null, false, 0));
    }

    private void body(String owner, String name, String by, String method, String field, String fieldType) {
        bodies.put(owner + "." + name, new Body(by, method, field, fieldType, false, 0));
    }

    private void value(String owner, String name, long value) {
        bodies.put(owner + "." + name, new Body(null, null, null, null, false, value));
    }

    private void call(String owner, String name, String by, String method) {
        call(owner, name, by, method, null);
    }

    private void call(String owner, String name, String by, String method, String receiver) {
        calls.put(owner + "." + name, new Call(by, method, receiver));
    }

    Body body(String owner, String name, String descriptor) {
        return bodies.get(owner + "." + name);
    }

    Call call(String owner, String name, String descriptor) {
        return calls.get(owner + "." + name);
    }

    /** Returns the number in place of a constant of a class; null for the same. */
    ConstantDesc constant(String type, ConstantInstruction c) {
        Map<Integer, Integer> of = constants.get(type);
        return of != null && c.constantValue() instanceof Integer i ? of.get(i) : null;
    }

    /** Returns what is added in place of a constant of a class. */
    int increment(String type, int by) {
        Map<Integer, Integer> of = constants.get(type);
        return of == null ? by : Integer.signum(by) * of.getOrDefault(Math.abs(by), Math.abs(by));
    }

    /** Returns the class of which objects are made in place of another; null for the same. */
    ClassDesc inPlaceOf(String type) {
        return switch (type) {
            case "java/util/concurrent/Semaphore" -> ClassDesc.of(Permits.class.getName());
            case "java/util/concurrent/locks/ReentrantLock" -> ClassDesc.of(LaneLock.class.getName());
            default -> null;
        };
    }

    /**
     * Returns whether the frames of an M hold nothing before a call but what its lane began with: the M and its scheduler. Those are the
     * head of the loop of findRunnable, before the M reads its P, and the call of findRunnable by the loop of schedule, so that all Ms come
     * back from findRunnable with what they have found and nothing else.
     */
    boolean forgets(String type, String method, String calledType, String called) {
        return type.equals(FIND) && method.equals("findRunnable") && calledType.equals(ROOT + "sched/base/Machine") && called.equals("pp")
                || type.equals(SCHEDULE) && method.equals("schedule") && calledType.equals(FIND);
    }

    private void checkForgets(ClassLoader loader, String type, String method) {
        long calls = read(loader, type).methods().stream().filter(m -> m.methodName().equalsString(method))
                .flatMap(m -> m.code().orElseThrow().elementStream())
                .filter(e -> e instanceof InvokeInstruction i
                        && forgets(type, method, i.owner().asInternalName(), i.name().stringValue())).count();
        if (calls != 1) {
            throw new IllegalStateException("gmp replay takes one call of " + type.replace('/', '.') + "." + method
                    + " for the head of a loop, and finds " + calls + ": change " + Names.class.getName() + ".forgets");
        }
    }

    boolean isAccessor(String descriptor) {
        return descriptor.startsWith("L") && ACCESSORS.contains(descriptor.substring(1, descriptor.length() - 1));
    }

    /** Returns whether a class, by its internal name, is one of {@link #HANDLES}. */
    static boolean isHandle(String type) {
        return HANDLES.contains(type);
    }

    /** Returns whether a descriptor is of one of {@link #HANDLES}. */
    static boolean isHandleType(String descriptor) {
        return descriptor.startsWith("L") && isHandle(descriptor.substring(1, descriptor.length() - 1));
    }

    boolean isWrapper(String type) {
        return WRAPPERS.contains(type);
    }

    boolean hasSharedFields(String type) {
        return SHARED.stream().anyMatch(type::startsWith) && OWN.stream().noneMatch(type::startsWith);
    }

    /** Throws with one sentence if a class or a method of the table is not there, or if a call is not the only one of its kind. */
    void check(ClassLoader loader) {
        List<String> all = new ArrayList<>(bodies.keySet());
        calls.keySet().stream().filter(k -> k.startsWith(ROOT)).forEach(all::add);
        constants.keySet().forEach(c -> all.add(c + ".<init>"));
        ACCESSORS.forEach(a -> all.add(a + ".getOpaque"));
        Map<String, ClassModel> known = new HashMap<>();
        for (String entry : all) {
            int dot = entry.lastIndexOf('.');
            String type = entry.substring(0, dot);
            String name = entry.substring(dot + 1);
            ClassModel c = known.computeIfAbsent(type, t -> read(loader, t));
            boolean inherits = type.endsWith("Thread") && !type.endsWith("JdkThreads") || type.equals(HOOK);
            if (!inherits && c.methods().stream().noneMatch(m -> m.methodName().stringValue().equals(name))) {
                throw missing(entry.replace('/', '.'));
            }
        }
        checkForgets(loader, FIND, "findRunnable");
        checkForgets(loader, SCHEDULE, "schedule");
    }

    private static ClassModel read(ClassLoader loader, String type) {
        try (InputStream in = loader.getResourceAsStream(type + ".class")) {
            if (in == null) {
                throw missing(type.replace('/', '.'));
            }
            return ClassFile.of().parse(in.readAllBytes());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static IllegalStateException missing(String what) {
        return new IllegalStateException("gmp replay rewrites " + what + ", which does not exist: change its entry in "
                + Names.class.getName());
    }
}
