// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.concurrent.Executor;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationSupport;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.StackableScope;
import jdk.internal.vm.ThreadContainer;
import org.jspecify.annotations.Nullable;

/**
 * The class that touches private members of the JDK: {@code java.lang.VirtualThread}, {@code java.lang.Thread} and
 * {@code jdk.internal.vm.Continuation} of JDK 25 ({@link JdkMembers} is its tool). It checks the
 * version and every member once, in {@link #check}.
 *
 * <p>Unmounting without a lock. An interrupt also marks the carrier, for whoever is blocked pinned to it, and must not mark
 * a carrier that has moved on. The JDK's {@code interrupt} does, under the thread's {@code interruptLock}: {@code interrupted
 * = true}, then reads {@code carrierThread}, then marks that. The JDK's {@code unmount} takes the same lock. Ours writes
 * {@code carrierThread = null}; the CAS on the goroutine's status or the JDK's state that follows is a fence; and the next
 * mount of anything on this carrier reads {@code interrupted} of the thread that was on it before. An interrupter that read the old carrier
 * had set {@code interrupted}. So when it is clear, either nobody did, or the thread has cleared it since: under the lock,
 * hence after the interrupter was done, and its mark is seen. When it is set, taking the lock once waits for an interrupter
 * that is still at it. The JDK's {@code mount} then drops a mark that the new thread does not deserve. A carrier that is to
 * sleep without anything mounted does all but the last at once ({@link #idle}), or it would keep a thread that has ended.
 *
 * <p>In between only the M's own code runs, and its sleep is a futex, which no interrupt ends. The same lock also guards the
 * JDK's {@code unpark} of a pinned thread; a late one leaves the carrier a permit: a park that returns for no reason, which
 * every user of {@code park} allows for. A {@code mount} of our own would save a fence, by setting {@code carrierThread}
 * before the CAS that makes the thread RUNNING; but it would do so before JVMTI knows of the mount, and a debugger then
 * loses track of which threads are suspended. {@code -Dgmp.mount=jdk} switches by the JDK's own methods alone.
 *
 * <p>Agents that keep something for each thread (the current span of a trace) swap it in {@code VirtualThread.mount} and
 * {@code unmount}, which they rewrite. We call the first in any case, and the second instead of our own from the moment an agent has
 * changed the class: the JVM counts that in the {@code Class}, and each unmounting reads the count. The class is loaded before
 * any Java agent starts, so no such change is without a count. Rejected: a transformer of ours that watches for changes, which the JVM
 * would call for every class that loads, and which sees nothing of agents that came before it.
 */
public final class JdkThreads {
    private static final int JDK = 25;

    /** What a new pooled stack has: Ms inherit nothing. */
    private static final ClassLoader CLASS_LOADER = ClassLoader.getSystemClassLoader();

    /** So often HotSpot lets a handle be called before it makes code for that one. */
    public static final int CUSTOMIZED_AFTER = 127;

    /** So many tasks may be around one another. */
    private static final int WRAPPERS = 3;

    /** Whether the JDK mounts and times the threads, by its own code as far as possible. */
    public static final boolean JDK_MOUNT = "jdk".equals(System.getProperty("gmp.mount"));

    /** Null, all five, when there is a {@link #PROBLEM}; then {@link #check} refuses. */
    private static final JdkMembers MEMBERS;
    static final ThreadCalls CALLS;
    private static final Class<?> VIRTUAL_THREAD;
    private static final SwitchCalls SWITCH;
    /** The one there was before {@link JdkScheduler}. */
    private static final Executor JDK_SCHEDULER;
    private static final @Nullable String PROBLEM;

    /** The class of {@code runContinuation} tasks, of which there is one in a JVM, and where such a task keeps its thread. */
    private static volatile @Nullable TaskClass taskClass;

    private record TaskClass(Class<?> type, long thread) {
    }

    static {
        JdkMembers members = null;
        String problem = otherThanOurs(Runtime.version());
        if (problem == null) {
            try {
                if (ContinuationSupport.isSupported()) {
                    members = new JdkMembers();
                } else {
                    problem = "gmp4j needs the continuations of the JVM, which are off here: start java without -XX:-VMContinuations";
                }
            } catch (IllegalAccessException | java.lang.reflect.InaccessibleObjectException | IllegalAccessError e) {
                Module us = JdkThreads.class.getModule();
                problem = ("gmp4j has no access to java.lang.VirtualThread: start java with -javaagent:gmp4j-runtime.jar, "
                        + "or with --add-exports=java.base/jdk.internal.vm=%1$s --add-opens=java.base/java.lang=%1$s")
                        .formatted(us.isNamed() ? us.getName() : "ALL-UNNAMED");
            } catch (ReflectiveOperationException | LinkageError e) {
                problem = "gmp4j does not know this build of the JDK (%s): %s is missing; use another build of JDK %d"
                        .formatted(Runtime.version(), e.getMessage(), JDK);
            }
        }
        PROBLEM = problem;
        MEMBERS = checked(members);
        CALLS = checked(members == null ? null : members.threads);
        VIRTUAL_THREAD = checked(members == null ? null : members.vt);
        SWITCH = checked(members == null ? null : members.switches);
        JDK_SCHEDULER = checked(members == null ? null : members.threads.defaultScheduler());
    }

    private JdkThreads() {
    }

    /** What is wrong with that version, in one sentence; null for nothing. */
    static @Nullable String otherThanOurs(Runtime.Version version) {
        return version.feature() == JDK ? null
                : "gmp4j needs JDK %d, this is %s: start the program with a JDK %d".formatted(JDK, version, JDK);
    }

    /** Not null for those who got past {@link #check}. */
    @SuppressWarnings("NullAway")
    private static <T> T checked(@Nullable T member) {
        return member;
    }

    /**
     * Checks that this JVM can run goroutines.
     *
     * @throws IllegalStateException with one sentence that says which flag or JDK to use
     */
    public static void check() {
        if (PROBLEM != null) {
            throw new IllegalStateException(PROBLEM);
        }
    }

    /**
     * Until {@link #unpin}, a JDK lock that is contended blocks this thread, not the goroutine. For the few places where
     * the runtime takes one on a goroutine's stack: what it knows of its M and P must still be true afterwards. Harmless
     * outside goroutines.
     */
    public static void pin() {
        Continuation.pin();
    }

    /** Ends {@link #pin}. */
    public static void unpin() {
        Continuation.unpin();
    }

    static Thread newVirtualThread(Executor scheduler, String name, Runnable body) {
        return CALLS.newVirtualThread(scheduler, name, body);
    }

    static Continuation continuation(Thread vt) {
        return CALLS.cont(vt);
    }

    static Runnable runContinuation(Thread vt) {
        return CALLS.runContinuation(vt);
    }

    /** Null where we have no access: then no thread is ours. */
    static @Nullable Executor scheduler(Thread vt) {
        return CALLS == null ? null : CALLS.scheduler(vt);
    }

    static void setScheduler(Thread vt, Executor scheduler) {
        CALLS.setScheduler(vt, scheduler);
    }

    /** What a virtual thread that never ran is to run. */
    public static Runnable task(Stack st) {
        return CALLS.task(st.cont);
    }

    /**
     * Has a virtual thread that never ran run {@code task} instead. The field is final, but nobody has read it yet, and the
     * start of the thread, through a queue, comes between this and the reading.
     */
    public static void setTask(Stack st, Runnable task) {
        CALLS.setTask(st.cont, task);
    }

    /**
     * The virtual thread that a {@code runContinuation} task belongs to: the receiver its method reference captured.
     *
     * @return null when the task is something else
     */
    public static @Nullable Thread threadOf(Runnable task) {
        Class<?> type = task.getClass();
        TaskClass known = taskClass;
        if (known != null && known.type == type) {
            return (Thread) CALLS.get(task, known.thread);
        }
        for (Field f : type.getDeclaredFields()) {
            if (Thread.class.isAssignableFrom(f.getType()) && !Modifier.isStatic(f.getModifiers())) {
                long offset = CALLS.offset(f);
                Thread t = (Thread) CALLS.get(task, offset);
                if (t != null && t.isVirtual() && runContinuation(t) == task) {
                    taskClass = new TaskClass(type, offset);
                    return t;
                }
            }
        }
        return null;
    }

    /**
     * The {@code runContinuation} task inside a task that an agent has put around it, to follow a request through every executor.
     * Run as it is, on a goroutine, such a task would make the JDK throw.
     *
     * @return the task itself when there is none in it
     */
    public static Runnable unwrapped(Runnable task) {
        Runnable inner = inside(task, WRAPPERS);
        return inner == null ? task : inner;
    }

    private static @Nullable Runnable inside(Runnable task, int levels) {
        if (threadOf(task) != null) {
            return task;
        }
        for (Class<?> c = task.getClass(); levels > 0 && c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (!f.getType().isPrimitive() && !Modifier.isStatic(f.getModifiers())
                        && CALLS.get(task, CALLS.offset(f)) instanceof Runnable held && held != task) {
                    Runnable inner = inside(held, levels - 1);
                    if (inner != null) {
                        return inner;
                    }
                }
            }
        }
        return null;
    }

    /**
     * Runs the stack on the calling host's thread until it yields or ends. The caller has made it RUNNING
     * ({@link JdkState#toRunning}).
     *
     * @return true when the virtual thread has ended
     */
    public static boolean run(Stack st) {
        try {
            if (JDK_MOUNT) {
                runByJdk(st);
            } else {
                Thread vt = st.thread;
                Host host = st.host;
                Thread carrier = host.thread;
                awaitInterrupters(host.before);
                host.before = vt;
                CALLS.mount(vt);
                try {
                    if (st.begun) {
                        SWITCH.resume(st.cont);
                    } else {
                        st.begun = true;
                        SWITCH.start(st.cont);
                    }
                } finally {
                    leave(st, carrier);
                }
            }
            return st.cont.isDone();
        } catch (Throwable e) {
            if (!st.cont.isDone()) {
                throw sneaky(e);
            }
            st.escaped(e);
            return true;
        }
    }

    private static void runByJdk(Stack st) {
        CALLS.mount(st.thread);
        try {
            st.cont.run();
        } finally {
            leave(st, st.host.thread);
        }
    }

    /** Unmounts, once nobody holds the stack. That the look and the unmounting are in this method is what {@link Hold} relies on. */
    private static void leave(Stack st, Thread carrier) {
        if (st.hold != null) {
            CALLS.notifyJvmtiUnmount(st.thread, false); // The dump may be waiting for the end of the switch.
            while (st.hold != null) {
                Thread.onSpinWait();
            }
            CALLS.notifyJvmtiUnmount(st.thread, true);
        }
        if (JDK_MOUNT || CALLS.redefined(VIRTUAL_THREAD) != 0) {
            CALLS.unmount(st.thread);
        } else {
            CALLS.unmountLight(st.thread, carrier);
        }
    }

    /**
     * The host is going to sleep, on its own stack: forgets the thread that was on it last, which may have ended. What the next
     * mount would do about that thread's interrupters is done now; it finds the carrier in its place, and no interrupter of its.
     */
    public static void idle(Host host) {
        try {
            awaitInterrupters(host.before);
        } catch (Throwable e) {
            throw sneaky(e);
        }
        host.before = host.thread;
    }

    /** Whether {@link #idle} was called since something was last mounted; from any thread, for whoever looks again. */
    public static boolean isIdle(Host host) {
        Thread before = host.before;
        return before == null || before == host.thread;
    }

    private static boolean interrupted(Thread t) {
        return CALLS.interrupted(t);
    }

    private static void awaitInterrupters(Thread t) {
        if (interrupted(t)) {
            synchronized (CALLS.interruptLock(t)) {
                // Whoever was interrupting it is done with the carrier.
            }
        }
    }

    /**
     * Gives the thread up: returns on the M in {@link #run}, and here when the M runs the stack again.
     *
     * <p>HotSpot takes interpreted frames off the thread by a recursion of its own and throws StackOverflowError where that
     * has no room: from about a third of the stack's size on. Nothing has happened then.
     *
     * @return false when the stack could not be taken off the thread (a native frame, a class initialiser, no memory, too
     *     deep)
     */
    public static boolean yield(Stack st) {
        Thread vt = st.thread;
        boolean yielded = false;
        try {
            if (JDK_MOUNT) {
                return CALLS.yieldContinuation(vt);
            }
            if (SWITCH.innermost() != st.cont) {
                return false; // In a continuation of the user's own, which would be what yields.
            }
            CALLS.notifyJvmtiUnmount(vt, true);
            try {
                yielded = SWITCH.yield() == 0;
            } finally {
                CALLS.notifyJvmtiMount(vt, false);
            }
            return yielded;
        } catch (OutOfMemoryError | StackOverflowError e) {
            return yielded; // If so, it was away and has come back: only what is told to debuggers failed.
        }
    }

    /**
     * How many bytes of frames a stack has on the heap, an unmounted one or that of the caller; 0 with {@code -Dgmp.mount=jdk}. A stack
     * that was mounted and unmounted while it grew has them in many chunks: the time is proportional to their number.
     */
    public static long frozen(Stack st) {
        long words = 0;
        int n = 0;
        if (!JDK_MOUNT) {
            for (StackChunk c = CALLS.tail(st.cont); c != null; c = c.parent()) {
                words += CALLS.used(c);
                n++;
            }
        }
        st.chunks = n;
        return words * Long.BYTES;
    }

    /**
     * Takes the frames off a stack that is not mounted and that no host mounts meanwhile; until {@link #putFrames} it looks as if it had
     * never run. Null for a mounted one, whose frames stay, and for one without frames on the heap.
     */
    public static @Nullable Object takeFrames(Stack st) {
        if (CALLS.carrier(st.thread) != null) {
            return null;
        }
        StackChunk frames = CALLS.tail(st.cont);
        setTail(st, null);
        return frames;
    }

    /** Puts back what {@link #takeFrames} returned. */
    public static void putFrames(Stack st, @Nullable Object frames) {
        if (frames != null) {
            setTail(st, (StackChunk) frames);
        }
    }

    @SuppressWarnings("NullAway") // The JDK has null there before the first yield.
    private static void setTail(Stack st, @Nullable StackChunk frames) {
        CALLS.setTail(st.cont, frames);
    }

    /**
     * Between two goroutines of one pooled stack, on that stack: nothing of the first may be seen by the second.
     * Thread-locals, the interrupt status, a parking permit, name and class loader go.
     */
    public static void forget(Stack st) {
        Thread vt = st.thread;
        if (CALLS.threadLocals(vt) != null || CALLS.inheritableThreadLocals(vt) != null) {
            CALLS.clearThreadLocals(vt);
        }
        if (interrupted(vt)) {
            Thread.interrupted();
        }
        if (CALLS.parkPermit(vt)) {
            CALLS.setParkPermit(vt, false);
        }
        if (!vt.getName().isEmpty()) {
            vt.setName("");
        }
        if (vt.getContextClassLoader() != CLASS_LOADER) {
            vt.setContextClassLoader(CLASS_LOADER);
        }
    }

    /** Closes the structured scopes that the calling goroutine has left open; may wait for their threads. */
    public static void closeScopes(Stack st) {
        if (hasScopes(st)) {
            StackableScope.popAll();
        }
    }

    /** Whether structured scopes are open on the stack. */
    public static boolean hasScopes(Stack st) {
        return CALLS.scopes(st.thread) != null;
    }

    static void setContainer(Thread vt, Object container) {
        CALLS.setContainer(vt, (ThreadContainer) container);
    }

    /** Opens a package of java.base to the runtime, for classes that link to it. False where the JDK is not opened to us. */
    public static boolean openToRuntime(String packageName) {
        if (PROBLEM != null) {
            return false;
        }
        openToUs(packageName);
        return true;
    }

    /** Lets us reflect on a package of java.base, for a boundary class beside this one. */
    static void openToUs(String packageName) {
        CALLS.open(Object.class.getModule(), packageName, JdkThreads.class.getModule());
    }

    /** Where a field of instances is. */
    static long offset(Field f) {
        return CALLS.offset(f);
    }

    /** What a field there refers to. */
    static Object get(Object o, long offset) {
        return CALLS.get(o, offset);
    }

    /** Whether a class has been initialised. Takes no lock. */
    public static boolean initialized(Class<?> c) {
        return !CALLS.shouldBeInitialized(c);
    }

    /** What virtual threads get that name no scheduler. */
    static Executor defaultScheduler() {
        return CALLS.defaultScheduler();
    }

    /** The JDK's own scheduler, also where {@link JdkScheduler} has put another in its place. */
    public static Executor jdkScheduler() {
        return JDK_SCHEDULER;
    }

    /** Runs an unmounted thread on the JDK's own scheduler from here on; nothing more while the thread still waits. */
    public static void leaveToJdk(Thread vt, Runnable runContinuation) {
        setScheduler(vt, JDK_SCHEDULER);
        pin(); // As the JDK does: the pool's locks are not to unmount the caller.
        try {
            JDK_SCHEDULER.execute(runContinuation);
        } finally {
            unpin();
        }
    }

    /** For {@link Hold}, as the next. */
    static Thread carrier(Thread vt) {
        return CALLS.carrier(vt);
    }

    static boolean casName(Thread vt, String from, String to) {
        return CALLS.casName(vt, from, to);
    }

    /** Defines a hidden class in the nest of one of the JDK's. */
    static Class<?> define(Class<?> nest, String name, byte[] b) throws ReflectiveOperationException {
        return MEMBERS.define(nest, name, b);
    }

    /** Throws {@code e} as it is. */
    public static RuntimeException sneaky(Throwable e) {
        throw JdkThreads.<RuntimeException>hide(e);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T hide(Throwable e) throws T {
        throw (T) e;
    }
}
