// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationSupport;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.StackableScope;
import jdk.internal.vm.ThreadContainer;
import org.jspecify.annotations.Nullable;

/**
 * The class that uses private members of the JDK: {@code java.lang.VirtualThread}, {@code java.lang.Thread} and {@code
 * jdk.internal.vm.Continuation} ({@link JdkMembers} makes the access). Its initialiser checks the version and every member, and {@link
 * #check} reports a failure.
 *
 * <p>Unmounting takes no lock. An interrupt of a virtual thread also marks its carrier as interrupted, because the thread may block while
 * it is pinned. The interrupt must not mark a carrier that by then runs another thread. The JDK's {@code interrupt} holds the thread's
 * {@code interruptLock}: it sets {@code interrupted}, then reads {@code carrierThread}, then marks that carrier. The JDK's {@code unmount}
 * takes the same lock. The unmount of this class writes {@code carrierThread = null} without it. A CAS follows, on the goroutine's status
 * or on the JDK's state of the thread, and is a fence. The next mount of any thread on this carrier first reads {@code interrupted} of the
 * thread that was on it before. An interrupter that read the old carrier had set {@code interrupted} before it read. So if the flag is
 * clear, there was no such interrupter, or the thread has cleared the flag meanwhile. In the second case the thread cleared it under the
 * lock, after the interrupter had marked the carrier. So the mount that reads the cleared flag also sees the mark. If the flag is set, the
 * mount takes the lock once, and so waits for an interrupter that has not finished. In each case the JDK's {@code mount} follows, which
 * clears a mark that does not belong to the new thread. Before an M sleeps with no thread mounted, {@link #idle} reads the flag, and takes
 * the lock if it is set. Then it drops the reference to the last thread, so that the thread does not stay reachable after its end.
 *
 * <p>A mark that comes between an unmount and the next mount does no harm. Only the M's own code runs then, and it sleeps in a futex, which
 * no interrupt ends. The JDK's {@code unpark} of a pinned thread takes the {@code interruptLock} too, and the unmount of this class does
 * not. So such an unpark may give its permit to the carrier after the thread has left it. A later park on this carrier then returns too
 * early. Callers of {@code park} must expect such returns. Rejected: a {@code mount} of this class. It would save a fence by setting {@code
 * carrierThread} before the CAS that makes the thread RUNNING. But then {@code carrierThread} would be set before JVMTI is notified of the
 * mount, and a debugger would lose track of suspended threads. With {@code -Dgmp.mount=jdk} only the JDK's own methods mount and unmount.
 *
 * <p>Some agents keep a value for each thread, such as the current span of a trace. They rewrite {@code VirtualThread.mount} and
 * {@code unmount}, so that these methods swap the value. The runtime always calls the JDK's mount. It calls the JDK's unmount, instead of
 * its own, as soon as an agent has changed the class. The JVM counts a class's redefinitions in its {@code Class} object, and each unmount
 * reads this count. The class is loaded before any Java agent starts, so an agent can change it only by a redefinition. Rejected: a
 * transformer that watches for changes. The JVM would call it for every class that loads, and it would miss the changes of earlier agents.
 */
public final class JdkThreads {
    /** The context class loader of a new pooled stack. Goroutines do not inherit the class loader of their starter. */
    private static final ClassLoader CLASS_LOADER = ClassLoader.getSystemClassLoader();

    /** The number of calls of a method handle after which HotSpot compiles code for that handle alone. */
    public static final int CUSTOMIZED_AFTER = 127;

    /** The greatest number of wrappers that {@link #unwrapped} and {@link #taskClass} remove from a task. */
    private static final int WRAPPERS = 3;

    /** Whether only the JDK's own methods mount, unmount and yield the threads, and the JDK's timer ends their timed waits. */
    public static final boolean JDK_MOUNT = "jdk".equals(System.getProperty("gmp.mount"));

    /** Null for an unknown version. */
    static final JdkVersion VERSION;
    /** Null, like the next four fields, when there is a {@link #PROBLEM}; then {@link #check} throws. */
    private static final JdkMembers MEMBERS;
    static final ThreadCalls CALLS;
    private static final Class<?> VIRTUAL_THREAD;
    private static final SwitchCalls SWITCH;
    /** The JDK's own scheduler of virtual threads, read before {@link JdkScheduler} may replace it. */
    private static final Executor JDK_SCHEDULER;
    private static final @Nullable String PROBLEM;

    /** The field with the thread in {@code runContinuation} tasks, which have one class; null before {@link #threadOf} has found it. */
    private static volatile @Nullable ThreadField threadField;

    private record ThreadField(Class<?> type, long offset) {
    }

    static {
        JdkMembers members = null;
        JdkVersion version = JdkVersion.of(Runtime.version());
        String problem = JdkVersion.otherThanOurs(Runtime.version());
        if (version != null) {
            try {
                if (ContinuationSupport.isSupported()) {
                    members = new JdkMembers(version);
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
                        .formatted(Runtime.version(), e.getMessage(), version.feature);
            }
        }
        PROBLEM = problem;
        VERSION = checked(version);
        MEMBERS = checked(members);
        CALLS = checked(members == null ? null : members.threads);
        VIRTUAL_THREAD = checked(members == null ? null : members.vt);
        SWITCH = checked(members == null ? null : members.switches);
        JDK_SCHEDULER = checked(members == null ? null : members.threads.defaultScheduler());
    }

    private JdkThreads() {
    }

    /** Returns {@code member}, which is not null for callers that have passed {@link #check}. */
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
     * Pins the caller to its thread until {@link #unpin}: a contended JDK lock then blocks the thread, and does not unmount the goroutine.
     * It is for the few places in which the runtime takes a JDK lock on the stack of a goroutine that must keep its M and P. Outside
     * goroutines it does nothing.
     */
    public static void pin() {
        Continuation.pin();
    }

    /** Ends {@link #pin}. */
    public static void unpin() {
        Continuation.unpin();
    }

    static Thread newVirtualThread(Executor scheduler, Runnable body) {
        return CALLS.newVirtualThread(scheduler, "", body);
    }

    static Continuation continuation(Thread vt) {
        return CALLS.cont(vt);
    }

    static Runnable runContinuation(Thread vt) {
        return CALLS.runContinuation(vt);
    }

    /** Returns the scheduler of a virtual thread, or null if the runtime has no access to the JDK, and so no threads. */
    static @Nullable Executor scheduler(Thread vt) {
        return CALLS == null ? null : CALLS.scheduler(vt);
    }

    static void setScheduler(Thread vt, Executor scheduler) {
        CALLS.setScheduler(vt, scheduler);
    }

    /** Returns the task with which a virtual thread was made. */
    public static Runnable task(Stack st) {
        return CALLS.task(st.cont);
    }

    /** Returns the task with which a virtual thread was made. */
    public static Runnable task(Thread vt) {
        return CALLS.task(CALLS.cont(vt));
    }

    /**
     * Returns the class of a thread's task. An executor of the JDK may have wrapped the task ({@code FutureTask}). Then returns the class
     * of the object in the wrapper, if the wrapper still refers to that object.
     */
    public static Class<?> taskClass(Runnable task) {
        Object inner = task;
        for (int levels = WRAPPERS; levels > 0 && inner.getClass().getClassLoader() == null; levels--) {
            Object next = wrapped(inner);
            if (next == null) {
                break;
            }
            inner = next;
        }
        return inner.getClass();
    }

    /** Returns the {@code Runnable} or {@code Callable} that a wrapper refers to; null for none. */
    private static @Nullable Object wrapped(Object wrapper) {
        for (Class<?> c = wrapper.getClass(); c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                Class<?> type = f.getType();
                boolean runs = Runnable.class.isAssignableFrom(type) && !Thread.class.isAssignableFrom(type) || type == Callable.class;
                if (runs && !Modifier.isStatic(f.getModifiers())) {
                    Object inner = CALLS.get(wrapper, CALLS.offset(f));
                    if (inner != null && inner != wrapper) {
                        return inner;
                    }
                }
            }
        }
        return null;
    }

    /**
     * Replaces the task of a virtual thread that never ran. The field is final, but was never read. The start of the thread through a queue
     * orders this write before the first read.
     */
    public static void setTask(Stack st, Runnable task) {
        CALLS.setTask(st.cont, task);
    }

    /**
     * Returns the virtual thread of a {@code runContinuation} task. The task is a method reference that has captured the thread.
     *
     * @return the thread, or null for any other task
     */
    public static @Nullable Thread threadOf(Runnable task) {
        Class<?> type = task.getClass();
        ThreadField known = threadField;
        if (known != null && known.type == type) {
            return (Thread) CALLS.get(task, known.offset);
        }
        for (Field f : type.getDeclaredFields()) {
            if (Thread.class.isAssignableFrom(f.getType()) && !Modifier.isStatic(f.getModifiers())) {
                long offset = CALLS.offset(f);
                Thread t = (Thread) CALLS.get(task, offset);
                if (t != null && t.isVirtual() && runContinuation(t) == task) {
                    threadField = new ThreadField(type, offset);
                    return t;
                }
            }
        }
        return null;
    }

    /** Calls {@link #threadOf} once, so that later calls need no memory. {@code virtualThread} need not be started. */
    public static void rehearseThreadOf(Thread virtualThread) {
        Thread _ = threadOf(runContinuation(virtualThread));
    }

    /** Returns the task in a wrapper that the JDK, from version 26 on, makes for a {@link ForkJoinPool}; null for another wrapper. */
    public static @Nullable Runnable adapted(ForkJoinTask<?> wrapper) {
        return wrapper.getClass() == Adapter.TYPE && CALLS.get(wrapper, Adapter.TASK) instanceof Runnable task ? task : null;
    }

    /** Calls {@link #adapted} once, so that later calls need no memory. Does nothing in a version without such wrappers. */
    public static void rehearseAdapted() {
        if (VERSION.adaptsTasks) {
            Object _ = adapted(ForkJoinTask.adapt(new Adapter()));
        }
    }

    /**
     * Finds the class of the wrapper that the JDK makes around a task ({@link #adapted}), and the offset of the wrapper's field for the
     * task. The initialiser has the JDK wrap an object of this class.
     */
    private static final class Adapter implements Runnable {
        static final Class<?> TYPE = ForkJoinTask.adapt(new Adapter()).getClass();
        static final long TASK = task();

        @Override
        public void run() {
            // Nothing.
        }

        private static long task() {
            for (Field f : TYPE.getDeclaredFields()) {
                if (f.getType() == Runnable.class) {
                    return CALLS.offset(f);
                }
            }
            throw new IllegalStateException("gmp4j does not know this build of the JDK: " + TYPE.getName() + " without a task");
        }
    }

    /**
     * Returns the {@code runContinuation} task inside a wrapper. Agents wrap tasks to follow a request through every executor. As the task
     * of a goroutine such a wrapper would call {@code runContinuation}, which throws on a virtual thread.
     *
     * @return the inner task, or {@code task} itself if it contains none
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
     * Runs the stack until it yields or ends. The caller is the thread of the stack's {@link Host}, the Java side of an M. It has set the
     * stack's state to RUNNING ({@link JdkState#toRunning}).
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

    /** Unmounts the stack once no dump holds it. {@link DumpHold} relies on the order of the read of {@code hold} and the unmount. */
    private static void leave(Stack st, Thread carrier) {
        if (st.hold != null) {
            CALLS.endUnmount(st.thread); // The dump may wait for the end of the switch.
            while (st.hold != null) {
                Thread.onSpinWait();
            }
            CALLS.startUnmount(st.thread);
        }
        if (JDK_MOUNT || CALLS.redefined(VIRTUAL_THREAD) != 0) {
            CALLS.unmount(st.thread);
        } else {
            CALLS.unmountLight(st.thread, carrier);
        }
    }

    /**
     * Drops the reference to the thread that was last mounted on the host, because that thread may have ended. First waits for the thread's
     * interrupters, as the next mount would do. Called on the host's own stack before the host sleeps.
     */
    public static void idle(Host host) {
        awaitInterrupters(host.before);
        host.before = host.thread;
    }

    /**
     * Returns whether {@link #idle} was called after the last mount. Any thread may call it. The field is read without ordering, so the
     * result may be out of date.
     */
    public static boolean isIdle(Host host) {
        Thread before = host.before;
        return before == null || before == host.thread;
    }

    private static void awaitInterrupters(Thread t) {
        if (CALLS.interrupted(t)) {
            synchronized (CALLS.interruptLock(t)) {
                // An interrupter of this thread holds the lock until it has marked the carrier.
            }
        }
    }

    /**
     * Yields: {@link #run} returns on the M, and this method returns when an M runs the stack again.
     *
     * <p>HotSpot moves interpreted frames off the thread by a recursion. Once the frames fill a third of the stack there may be no room for
     * that. Then HotSpot throws a StackOverflowError and changes nothing.
     *
     * @return false when the frames could not be moved off the thread (a native frame, a class initialiser, no memory, too
     *     deep), or the caller runs in a continuation of the user
     */
    public static boolean yield(Stack st) {
        Thread vt = st.thread;
        boolean yielded = false;
        try {
            if (JDK_MOUNT) {
                return CALLS.yieldContinuation(vt);
            }
            if (SWITCH.innermost() != st.cont) {
                return false; // The caller is in a continuation of the user, which would yield instead.
            }
            CALLS.startUnmount(vt);
            try {
                yielded = SWITCH.yield() == 0;
            } finally {
                CALLS.endMount(vt);
            }
            return yielded;
        } catch (OutOfMemoryError | StackOverflowError e) {
            return yielded; // If yielded is true, the stack was resumed, and only the report to debuggers has failed.
        }
    }

    /**
     * Returns the number of bytes of frames that a stack has on the heap, or 0 with {@code -Dgmp.mount=jdk}. The stack is unmounted, or the
     * caller's own. A stack that was unmounted often while it grew has its frames in many chunks. The time is proportional to the number of
     * chunks, which is stored in {@link Stack#chunks}.
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
     * Removes the frames of an unmounted stack and returns them. Until {@link #putFrames} the stack looks as if it had never run, and no
     * host may mount it. Returns null for a mounted stack, whose frames stay, and for a stack without frames on the heap.
     */
    public static @Nullable Object takeFrames(Stack st) {
        if (CALLS.carrier(st.thread) != null) {
            return null;
        }
        StackChunk frames = CALLS.tail(st.cont);
        setTail(st, null);
        return frames;
    }

    /** Puts back the frames that {@link #takeFrames} returned. */
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
     * Clears thread-locals, the interrupt status, a parking permit, the name and the class loader of the last goroutine on a pooled stack.
     * Called on that stack, between two goroutines.
     */
    public static void forget(Stack st) {
        Thread vt = st.thread;
        if (CALLS.threadLocals(vt) != null || CALLS.inheritableThreadLocals(vt) != null) {
            CALLS.clearThreadLocals(vt);
        }
        if (CALLS.interrupted(vt)) {
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

    /** Closes the structured scopes that the calling goroutine has left open. It may wait for their threads. */
    public static void closeScopes(Stack st) {
        if (hasScopes(st)) {
            StackableScope.popAll();
        }
    }

    /** Returns whether structured scopes are open on the stack. */
    public static boolean hasScopes(Stack st) {
        return CALLS.scopes(st.thread) != null;
    }

    static void setContainer(Thread vt, Object container) {
        CALLS.setContainer(vt, (ThreadContainer) container);
    }

    /** Opens a package of java.base to the runtime's classes, which link to it. Returns false if the runtime has no access to the JDK. */
    public static boolean openToRuntime(String packageName) {
        if (PROBLEM != null) {
            return false;
        }
        openToUs(packageName);
        return true;
    }

    /** Opens a package of java.base to the module of the runtime. */
    static void openToUs(String packageName) {
        CALLS.open(Object.class.getModule(), packageName, JdkThreads.class.getModule());
    }

    /** Returns the offset of an instance field. */
    static long offset(Field f) {
        return CALLS.offset(f);
    }

    /** Returns the reference in the field of {@code o} at an offset. */
    static Object get(Object o, long offset) {
        return CALLS.get(o, offset);
    }

    /** Sets the reference in the field of {@code o} at an offset, even in a final field. */
    static void put(Object o, long offset, @Nullable Object value) {
        CALLS.put(o, offset, value);
    }

    /** Returns whether a class has been initialised. Takes no lock. */
    public static boolean initialized(Class<?> c) {
        return !CALLS.shouldBeInitialized(c);
    }

    /** Returns the scheduler of virtual threads that are made without one. */
    static Executor defaultScheduler() {
        return CALLS.defaultScheduler();
    }

    /** Returns the JDK's own scheduler, even if {@link JdkScheduler} has replaced it. */
    public static Executor jdkScheduler() {
        return JDK_SCHEDULER;
    }

    /**
     * Hands an unmounted thread over to the JDK's own scheduler, which runs the thread from now on. A thread that still waits runs when its
     * wait is over.
     */
    public static void leaveToJdk(Thread vt, Runnable runContinuation) {
        setScheduler(vt, JDK_SCHEDULER);
        pin(); // The pool's locks must not unmount the caller. The JDK pins in the same case.
        try {
            JDK_SCHEDULER.execute(runContinuation);
        } finally {
            unpin();
        }
    }

    /** Returns the carrier on which a virtual thread is mounted, for {@link DumpHold}. */
    static Thread carrier(Thread vt) {
        return CALLS.carrier(vt);
    }

    static boolean casName(Thread vt, String from, String to) {
        return CALLS.casName(vt, from, to);
    }

    /** Defines a hidden class in the nest of a class of the JDK. */
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
