package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.StackableScope;

/**
 * The class that touches private members of the JDK: {@code java.lang.VirtualThread}, {@code java.lang.Thread} and
 * {@code jdk.internal.vm.Continuation} of JDK 25 ({@link JdkMembers} and {@link SwitchClasses} are its tools). It checks the
 * version and every member once, in {@link #check}.
 *
 * <p>State words. While a goroutine is parked by us its virtual thread's {@code state} is {@code WAIT}: a dump sees an
 * unmounted thread in WAITING, {@code LockSupport.unpark} leaves the state alone and only sets the permit (with
 * {@code PARKED} it would submit the thread), and an interrupt moves it to {@code UNBLOCKED} and calls
 * {@code Executor.execute}, which the stack filters. While a goroutine is runnable with frames, the state is
 * {@code YIELDED}. Whoever looks at an unmounted stack holds it by the {@code SUSPENDED} bit (the JDK's
 * {@code tryGetStackTrace}); {@link #toRunning} waits that out, as Go waits out {@code _Gscan}.
 *
 * <p>Unmounting without a lock. An interrupt also marks the carrier, for whoever is blocked pinned to it, and must not mark
 * a carrier that has moved on. The JDK's {@code interrupt} does, under the thread's {@code interruptLock}: {@code interrupted
 * = true}, then reads {@code carrierThread}, then marks that. The JDK's {@code unmount} takes the same lock. Ours writes
 * {@code carrierThread = null}; the CAS on the goroutine's status or the JDK's state that follows is a fence; and the next
 * mount of anything on this carrier reads {@code interrupted} of the thread that was on it before. Who read the old carrier
 * had set {@code interrupted}. So when it is clear, either nobody did, or the thread has cleared it since: under the lock,
 * hence after the interrupter was done, and its mark is seen. When it is set, taking the lock once waits for an interrupter
 * that is still at it. The JDK's {@code mount} then drops a mark that the new thread does not deserve. A carrier that is to
 * sleep without anything mounted does all but the last at once ({@link #idle}), or it would keep a thread that has ended.
 *
 * <p>In between only the M's own code runs, and its sleep is a futex, which no interrupt ends. The same lock also guards the
 * JDK's {@code unpark} of a pinned thread; a late one leaves the carrier a permit: a park that returns for no reason, which
 * every user of {@code park} allows for. A {@code mount} of our own would save a fence, by setting {@code carrierThread}
 * before the CAS that makes the thread RUNNING; but it would do so before JVMTI knows of the mount, and a debugger then
 * loses track of who is suspended. {@code -Dgmp.mount=jdk} switches by the JDK's own methods alone.
 */
public final class JdkThreads {
    private static final int JDK = 25;

    /** What a new pooled stack has: Ms inherit nothing. */
    private static final ClassLoader CLASS_LOADER = ClassLoader.getSystemClassLoader();

    // VirtualThread's states, JDK 25.
    private static final int NEW = 0;
    private static final int STARTED = 1;
    static final int RUNNING = 2;
    private static final int PARKED = 4;
    private static final int PINNED = 5;
    private static final int TIMED_PARKED = 7;
    private static final int TIMED_PINNED = 8;
    static final int UNPARKED = 9;
    static final int YIELDED = 11;
    static final int UNBLOCKED = 14;
    static final int WAIT = 16;
    private static final int TERMINATED = 99;
    static final int SUSPENDED = 1 << 8;

    /** So often HotSpot lets a handle be called before it makes code for that one. */
    public static final int CUSTOMIZED_AFTER = 127;

    private static final MethodHandle NEW_VTHREAD;
    private static final boolean JDK_MOUNT = "jdk".equals(System.getProperty("gmp.mount"));

    private static final MethodHandle LIGHT_UNMOUNT;
    private static final MethodHandle SHOULD_BE_INITIALIZED;
    private static final MethodHandle START;
    private static final MethodHandle RESUME;
    private static final MethodHandle INNERMOST;
    private static final MethodHandle DO_YIELD;
    private static final MethodHandle TAIL;
    private static final MethodHandle USED;
    private static final MethodHandle NOTIFY_UNMOUNT;
    private static final MethodHandle NOTIFY_MOUNT;
    private static final MethodHandle INTERRUPT_LOCK;
    private static final MethodHandle MOUNT;
    private static final MethodHandle UNMOUNT;
    private static final MethodHandle YIELD;
    private static final MethodHandle AFTER_YIELD;
    private static final MethodHandle AFTER_DONE;
    private static final MethodHandle CANCEL_TIMEOUT;
    private static final MethodHandle CONT;
    private static final MethodHandle RUN_CONTINUATION;
    private static final MethodHandle SCHEDULER;
    private static final MethodHandle DEFAULT_SCHEDULER;
    private static final Field SCHEDULER_FIELD;
    static final VarHandle STATE;
    private static final VarHandle PARK_PERMIT;
    private static final VarHandle BLOCK_PERMIT;
    private static final VarHandle INTERRUPTED;
    private static final MethodHandle THREAD_LOCALS;
    private static final MethodHandle SET_THREAD_LOCALS;
    private static final MethodHandle INHERITABLE_THREAD_LOCALS;
    private static final MethodHandle SET_INHERITABLE_THREAD_LOCALS;
    private static final MethodHandle TARGET;
    private static final MethodHandle TASK;
    private static final MethodHandle SET_TASK;
    private static final MethodHandle SET_CONTAINER;
    private static final VarHandle SCOPES;
    static final VarHandle NAME;
    static final VarHandle CARRIER;
    private static final String PROBLEM;

    /** Where the class of {@code runContinuation} tasks, of which there is one in a JVM, keeps its thread. */
    private static volatile Field taskThread;

    static {
        JdkMembers h = null;
        String problem = null;
        if (Runtime.version().feature() != JDK) {
            problem = "gmp4j needs JDK %d, this is %s: start the program with a JDK %d"
                    .formatted(JDK, Runtime.version(), JDK);
        } else {
            try {
                h = new JdkMembers(JDK_MOUNT);
            } catch (IllegalAccessException | java.lang.reflect.InaccessibleObjectException | IllegalAccessError e) {
                problem = "gmp4j has no access to java.lang.VirtualThread: start java with -javaagent:gmp4j-runtime.jar, "
                        + "or with --add-exports=java.base/jdk.internal.vm=ALL-UNNAMED "
                        + "--add-opens=java.base/java.lang=ALL-UNNAMED";
            } catch (ReflectiveOperationException | LinkageError e) {
                problem = "gmp4j does not know this build of the JDK (%s): %s is missing; use another build of JDK %d"
                        .formatted(Runtime.version(), e.getMessage(), JDK);
            }
        }
        PROBLEM = problem;
        NEW_VTHREAD = h == null ? null : h.newVthread;
        LIGHT_UNMOUNT = h == null || JDK_MOUNT ? null : h.switches.unmount;
        SHOULD_BE_INITIALIZED = h == null || JDK_MOUNT ? null : h.switches.shouldBeInitialized;
        START = h == null || JDK_MOUNT ? null : h.switches.start;
        RESUME = h == null || JDK_MOUNT ? null : h.switches.resume;
        INNERMOST = h == null || JDK_MOUNT ? null : h.switches.innermost;
        DO_YIELD = h == null || JDK_MOUNT ? null : h.switches.yield;
        TAIL = h == null || JDK_MOUNT ? null : h.switches.tail;
        USED = h == null || JDK_MOUNT ? null : h.switches.used;
        NOTIFY_UNMOUNT = h == null ? null : h.notifyUnmount;
        NOTIFY_MOUNT = h == null ? null : h.notifyMount;
        INTERRUPT_LOCK = h == null ? null : h.interruptLock;
        MOUNT = h == null ? null : h.mount;
        UNMOUNT = h == null ? null : h.unmount;
        YIELD = h == null ? null : h.yield;
        AFTER_YIELD = h == null ? null : h.afterYield;
        AFTER_DONE = h == null ? null : h.afterDone;
        CANCEL_TIMEOUT = h == null ? null : h.cancelTimeout;
        CONT = h == null ? null : h.cont;
        RUN_CONTINUATION = h == null ? null : h.runContinuation;
        SCHEDULER = h == null ? null : h.scheduler;
        DEFAULT_SCHEDULER = h == null ? null : h.defaultScheduler;
        SCHEDULER_FIELD = h == null ? null : h.schedulerField;
        STATE = h == null ? null : h.state;
        PARK_PERMIT = h == null ? null : h.parkPermit;
        BLOCK_PERMIT = h == null ? null : h.blockPermit;
        INTERRUPTED = h == null ? null : h.interrupted;
        THREAD_LOCALS = h == null ? null : h.threadLocals;
        SET_THREAD_LOCALS = h == null ? null : h.setThreadLocals;
        INHERITABLE_THREAD_LOCALS = h == null ? null : h.inheritableThreadLocals;
        SET_INHERITABLE_THREAD_LOCALS = h == null ? null : h.setInheritableThreadLocals;
        TARGET = h == null ? null : h.target;
        TASK = h == null ? null : h.task;
        SET_TASK = h == null ? null : h.setTask;
        SET_CONTAINER = h == null ? null : h.setContainer;
        SCOPES = h == null ? null : h.scopes;
        NAME = h == null ? null : h.name;
        CARRIER = h == null ? null : h.carrier;
    }

    private JdkThreads() {
    }

    /**
     * Uses the handles on fields so often that they take no memory from then on: see {@code proc.Warm}. On a thread that is
     * never started. Not those on methods: the compiler knows some of these, and they take what they are given for a thread that
     * runs. Every switch calls them, and {@code Rehearsal} switches often enough.
     */
    public static void warm() {
        Thread idle = newVirtualThread(Runnable::run, "", () -> { });
        try {
            for (int i = 0; i <= CUSTOMIZED_AFTER; i++) {
                Object unused = continuation(idle);
                unused = runContinuation(idle);
                unused = scheduler(idle);
                unused = (Object) INTERRUPT_LOCK.invokeExact(idle);
                unused = (Object) THREAD_LOCALS.invokeExact(idle);
                SET_THREAD_LOCALS.invokeExact(idle, (Object) null);
                unused = (Object) INHERITABLE_THREAD_LOCALS.invokeExact(idle);
                SET_INHERITABLE_THREAD_LOCALS.invokeExact(idle, (Object) null);
            }
        } catch (Throwable e) {
            throw sneaky(e);
        }
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
        try {
            return (Thread) NEW_VTHREAD.invokeExact(scheduler, name, 0, body);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    static Continuation continuation(Thread vt) {
        try {
            return (Continuation) CONT.invokeExact(vt);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    static Runnable runContinuation(Thread vt) {
        try {
            return (Runnable) RUN_CONTINUATION.invokeExact(vt);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    static Executor scheduler(Thread vt) {
        try {
            return (Executor) SCHEDULER.invokeExact(vt);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    static void setScheduler(Thread vt, Executor scheduler) {
        try {
            SCHEDULER_FIELD.set(vt, scheduler);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a virtual thread that never ran is to run. */
    public static Runnable task(Stack st) {
        try {
            return (Runnable) TASK.invokeExact((Runnable) TARGET.invokeExact(st.cont));
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /**
     * Has a virtual thread that never ran run {@code task} instead. The field is final, but nobody has read it yet, and the
     * start of the thread, through a queue, comes between this and the reading.
     */
    public static void setTask(Stack st, Runnable task) {
        try {
            SET_TASK.invokeExact((Runnable) TARGET.invokeExact(st.cont), task);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /**
     * The virtual thread that a {@code runContinuation} task belongs to: the receiver its method reference captured.
     *
     * @return null when the task is something else
     */
    public static Thread threadOf(Runnable task) {
        try {
            Field known = taskThread;
            if (known != null && known.getDeclaringClass() == task.getClass()) {
                return (Thread) known.get(task);
            }
            for (Field f : task.getClass().getDeclaredFields()) {
                if (Thread.class.isAssignableFrom(f.getType())) {
                    f.setAccessible(true);
                    Thread t = (Thread) f.get(task);
                    if (t != null && t.isVirtual() && runContinuation(t) == task) {
                        taskThread = f;
                        return t;
                    }
                }
            }
            return null;
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Runs the stack on the calling host's thread until it yields or ends. The caller has made it RUNNING
     * ({@link #toRunning}).
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
                MOUNT.invokeExact(vt);
                try {
                    if (st.begun) {
                        RESUME.invokeExact(st.cont);
                    } else {
                        st.begun = true;
                        START.invokeExact(st.cont);
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

    private static void runByJdk(Stack st) throws Throwable {
        MOUNT.invokeExact(st.thread);
        try {
            st.cont.run();
        } finally {
            leave(st, null);
        }
    }

    /** Unmounts, once nobody holds the stack. That the look and the unmounting are in this method is what {@link Hold} relies on. */
    private static void leave(Stack st, Thread carrier) throws Throwable {
        if (st.hold != null) {
            NOTIFY_UNMOUNT.invokeExact(st.thread, false); // The dump may be waiting for the end of the switch.
            while (st.hold != null) {
                Thread.onSpinWait();
            }
            NOTIFY_UNMOUNT.invokeExact(st.thread, true);
        }
        if (JDK_MOUNT) {
            UNMOUNT.invokeExact(st.thread);
        } else {
            LIGHT_UNMOUNT.invokeExact(st.thread, carrier);
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

    private static boolean interrupted(Thread t) {
        return (boolean) INTERRUPTED.getVolatile(t);
    }

    private static void awaitInterrupters(Thread t) throws Throwable {
        if (interrupted(t)) {
            synchronized ((Object) INTERRUPT_LOCK.invokeExact(t)) {
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
                return (boolean) YIELD.invokeExact(vt);
            }
            if ((Continuation) INNERMOST.invokeExact() != st.cont) {
                return false; // In a continuation of the user's own, which would be what yields.
            }
            NOTIFY_UNMOUNT.invokeExact(vt, true);
            try {
                yielded = (int) DO_YIELD.invokeExact() == 0;
            } finally {
                NOTIFY_MOUNT.invokeExact(vt, false);
            }
            return yielded;
        } catch (OutOfMemoryError | StackOverflowError e) {
            return yielded; // If so, it was away and has come back: only what is told to debuggers failed.
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /**
     * The JDK itself asked to yield (a park, a monitor, {@code Thread.yield}): let it finish. May call execute.
     *
     * @return false when there was no memory for the alarm of a timed wait, which the JDK sets first: then nothing was done, and
     *     it is to be called again
     */
    public static boolean afterYield(Stack st) {
        try {
            AFTER_YIELD.invokeExact(st.thread);
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /**
     * How many bytes of frames an unmounted stack has on the heap; 0 with {@code -Dgmp.mount=jdk}. A stack that was mounted and
     * unmounted while it grew has them in many chunks: the time is proportional to their number.
     */
    public static long frozen(Stack st) {
        try {
            long words = 0;
            int n = 0;
            if (!JDK_MOUNT) {
                for (StackChunk c = (StackChunk) TAIL.invokeExact(st.cont); c != null; c = c.parent()) {
                    words += (int) USED.invokeExact(c);
                    n++;
                }
            }
            st.chunks = n;
            return words * Long.BYTES;
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /**
     * The virtual thread ended: let the JDK tell those who join it. Only for threads that were started by {@code Thread.start}.
     *
     * @return false when there was no memory to begin with that: it is to be called again
     */
    public static boolean afterDone(Stack st) {
        try {
            AFTER_DONE.invokeExact(st.thread);
            return true;
        } catch (OutOfMemoryError e) {
            return ((int) STATE.getVolatile(st.thread) & ~SUSPENDED) == TERMINATED; // Once is enough for the rest of it.
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /** Before {@link #run}: to RUNNING from whatever unmounted state, waiting out a dump that holds the stack. */
    public static void toRunning(Stack st) {
        Thread vt = st.thread;
        for (;;) {
            int s = (int) STATE.getVolatile(vt);
            if ((s & SUSPENDED) == 0 && STATE.compareAndSet(vt, s, RUNNING)) {
                if (s == UNPARKED) {
                    cancelTimeout(vt);
                    PARK_PERMIT.setVolatile(vt, false);
                } else if (s == UNBLOCKED) {
                    cancelTimeout(vt);
                    BLOCK_PERMIT.setVolatile(vt, false);
                }
                return;
            }
            Thread.onSpinWait();
        }
    }

    private static void cancelTimeout(Thread vt) {
        try {
            CANCEL_TIMEOUT.invokeExact(vt);
        } catch (OutOfMemoryError e) {
            return; // Then it comes late, and ends a later park for no reason, as any park may.
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /**
     * After {@link #run}, before the goroutine becomes visible as waiting. Release is enough: whoever takes the goroutine
     * comes through a CAS on its status that follows; a dump that still reads RUNNING looks again.
     */
    public static void toWaiting(Stack st) {
        STATE.setRelease(st.thread, WAIT);
    }

    /** After {@link #run}, before the goroutine becomes visible as runnable; release as above. */
    public static void toYielded(Stack st) {
        STATE.setRelease(st.thread, YIELDED);
    }

    /** Whether the JDK has made the thread runnable: what {@code runContinuation} checks before it runs. */
    public static boolean jdkRunnable(Stack st) {
        int s = (int) STATE.getVolatile(st.thread) & ~SUSPENDED;
        return s == STARTED || s == UNPARKED || s == UNBLOCKED || s == YIELDED;
    }

    /**
     * {@code LockSupport.unpark} for the runtime's own threads: it takes no lock. The JDK's takes the interruptLock of a thread
     * that is parked pinned, which an interrupter may hold while it closes a channel. Without it the carrier may get its permit
     * late, when it runs something else: a park that returns for no reason, which every user of {@code park} allows for.
     *
     * @return whether the thread was parked: it is runnable now, and the caller queues it, as the JDK's submission would
     */
    public static boolean unpark(Stack st) {
        Thread vt = st.thread;
        if ((boolean) PARK_PERMIT.getAndSet(vt, true)) {
            return false;
        }
        int s = (int) STATE.getVolatile(vt);
        if (s == PARKED || s == TIMED_PARKED) {
            return STATE.compareAndSet(vt, s, UNPARKED); // Else a dump holds it, or a time-out was faster: both see the permit.
        }
        if (s == PINNED || s == TIMED_PINNED) {
            LockSupport.unpark(st.host.thread); // Set before the thread was mounted, hence before it was pinned.
        }
        return false;
    }

    /** Whether the thread is runnable because of {@code Thread.yield}. */
    public static boolean jdkYielded(Stack st) {
        return ((int) STATE.getVolatile(st.thread) & ~SUSPENDED) == YIELDED;
    }

    /** Whether the thread never ran. */
    public static boolean isNew(Stack st) {
        int s = (int) STATE.getVolatile(st.thread);
        return s == NEW || s == STARTED;
    }

    /**
     * Between two goroutines of one pooled stack, on that stack: nothing of the first may be seen by the second.
     * Thread-locals, the interrupt status, a parking permit, name and class loader go.
     */
    public static void forget(Stack st) {
        Thread vt = st.thread;
        try {
            if ((Object) THREAD_LOCALS.invokeExact(vt) != null) {
                SET_THREAD_LOCALS.invokeExact(vt, (Object) null);
            }
            if ((Object) INHERITABLE_THREAD_LOCALS.invokeExact(vt) != null) {
                SET_INHERITABLE_THREAD_LOCALS.invokeExact(vt, (Object) null);
            }
        } catch (Throwable e) {
            throw sneaky(e);
        }
        if (interrupted(vt)) {
            Thread.interrupted();
        }
        if ((boolean) PARK_PERMIT.getVolatile(vt)) {
            PARK_PERMIT.setVolatile(vt, false);
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
        return (StackableScope) SCOPES.getVolatile(st.thread) != null;
    }

    static void setContainer(Thread vt, Object container) {
        try {
            SET_CONTAINER.invokeExact(vt, container);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /** What the JDK submits to have the stack's thread run. */
    public static Runnable runContinuationOf(Stack st) {
        return runContinuation(st.thread);
    }

    /** Lets us reflect on a package of java.base, for a boundary class beside this one. */
    static void openToUs(String packageName) throws ReflectiveOperationException {
        MethodHandle open = MethodHandles.privateLookupIn(Module.class, MethodHandles.lookup()).findVirtual(Module.class,
                "implAddOpens", MethodType.methodType(void.class, String.class, Module.class));
        try {
            open.invokeExact(Object.class.getModule(), packageName, JdkThreads.class.getModule());
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /** Whether a class has been initialised; or that cannot be said. Takes no lock. */
    static boolean initialized(Class<?> c) {
        try {
            return JDK_MOUNT || !(boolean) SHOULD_BE_INITIALIZED.invokeExact(c);
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    /** Runs an unmounted thread on the JDK's own scheduler from here on; nothing more while the thread still waits. */
    public static void leaveToJdk(Thread vt, Runnable runContinuation) {
        Executor scheduler;
        try {
            scheduler = (Executor) DEFAULT_SCHEDULER.invokeExact();
        } catch (Throwable e) {
            throw sneaky(e);
        }
        setScheduler(vt, scheduler);
        pin(); // As the JDK does: the pool's locks are not to unmount the caller.
        try {
            scheduler.execute(runContinuation);
        } finally {
            unpin();
        }
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
