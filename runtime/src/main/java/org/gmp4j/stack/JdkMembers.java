// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.concurrent.Executor;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.ThreadContainer;
import org.gmp4j.classfile.ClassFileWriter;

/**
 * Makes the classes that implement {@link ThreadCalls} and {@link SwitchCalls}: plain code inside the JDK, which a call from
 * here reaches by plain calls. (Method handles would do the same. But the JVM generates classes for each of their types when they are
 * made, when they are linked, and again when they were called 127 times, 140 at a start; and the compilers work their
 * way through those at each place.)
 *
 * <pre>
 * JdkThreads ─▶ ThreadCalls                                  ours
 *                   ▲ a hidden class beside it: calls THREADS
 *                   │
 *               java.lang.GmpCalls…                          in java.base; abstract, public, named, so that others find it
 *                   ▲                      ▲
 *               GmpThreads               GmpSwitch           hidden classes in the nests of VirtualThread and Continuation,
 *                                                            which may use what is private there
 * </pre>
 *
 * <p>In Java the two would read
 *
 * <pre>
 * final class GmpThreads extends GmpCalls {
 *     static { GmpCalls.threads = new GmpThreads(); }
 *
 *     public void mount(Thread vt) { ((VirtualThread) vt).mount(); }
 *     public int state(Thread vt) { return ((VirtualThread) vt).state; }
 *     public void setStateRelease(Thread vt, int s) { U.putIntRelease(vt, VirtualThread.STATE, s); }
 *     // ... and so on
 *
 *     &#64;ChangesCurrentThread &#64;ReservedStackAccess
 *     public void unmountLight(Thread vt, Thread carrier) {
 *         carrier.setCurrentThread(carrier);
 *         U.putReferenceRelease(vt, VirtualThread.CARRIER_THREAD, null);
 *         U.storeFence();                           // From JDK 26 on. The JVM looks at the carrier when the switch is over.
 *         ((VirtualThread) vt).endTransition(false); // JDK 25: notifyJvmtiUnmount(false).
 *     }
 * }
 *
 * final class GmpSwitch extends GmpCalls {
 *     static { GmpCalls.switches = new GmpSwitch(); }
 *
 *     &#64;ForceInline
 *     public void start(Continuation c) { // and resume, with true
 *         JLA.setScopedValueCache(c.scopedValueCache);
 *         JLA.setContinuation(JLA.currentCarrierThread(), c);
 *         Continuation.enterSpecial(c, false, true);
 *         JLA.setContinuation(JLA.currentCarrierThread(), null);
 *         c.scopedValueCache = JLA.scopedValueCache();
 *         JLA.setScopedValueCache(null);
 *     }
 *
 *     &#64;ForceInline
 *     public Continuation innermost() { return JLA.getContinuation(JLA.currentCarrierThread()); }
 *
 *     &#64;Hidden &#64;JvmtiHideEvents &#64;DontInline
 *     public int yield() { return Continuation.doYield(); }
 * }
 * </pre>
 *
 * <p>{@code unmountLight} is one method because only code that the compiler knows to change the current
 * thread may do so: in a caller without that mark it could read {@code Thread.currentThread()} once and use it on both
 * sides.
 *
 * <p>{@code start} and {@code resume} leave out what {@code Continuation.run} does for continuations that are nested in
 * others or that anybody may run: ours are outermost and run by the M that made them RUNNING. They are inlined in the M's
 * loop, and that matters most: a yield leaves without returning from its callers, so the processor predicts wrongly each
 * return of the M from a frame above its loop.
 *
 * <p>{@code yield} must be one frame of its own. A goroutine that began before its first frames were compiled has interpreted
 * ones at the bottom for as long as it lives, and a switch that moves one of those takes twice as long. HotSpot then moves
 * two frames at a time; a loop whose every call was inlined is one frame, this is the other.
 *
 * <p>The named class has a hash of its contents in its name, so that another class loader's copy of us uses the same class if the
 * contents are the same.
 */
final class JdkMembers {
    private static final String ACCESS = "jdk/internal/access/JavaLangAccess";
    private static final String UNSAFE = "jdk/internal/misc/Unsafe";
    private static final String ANNOTATION = "Ljdk/internal/vm/annotation/";

    private static final int PUBLIC = 0x0001;
    private static final int STATIC = 0x0008;
    private static final int PUBLIC_STATIC = 0x0009;
    private static final int NESTMATE_HIDDEN_STRONG = 7;
    /** More would keep C1 from inlining them. */
    private static final int MOST_STACK = 6;
    private static final int DEFINE_STACK = 10;

    private final JdkVersion version;
    final ThreadCalls threads;
    final SwitchCalls switches;

    /** Defines a hidden class in the nest of one of java.base, and initialises it. */
    private final MethodHandle define;
    final Class<?> vt = Class.forName("java.lang.VirtualThread");
    /** The named class, and the same as the type of a variable. */
    private final String calls;
    private final String aCalls;
    /** What the implementation that is being written has to implement, what has been written of it, and the class file. */
    private Method[] wanted = new Method[0];
    private int written;
    @SuppressWarnings("NullAway.Init") // See begin.
    private ClassFileWriter out;

    /** Looks all members up, so that one that is missing is an exception here, and defines the classes. */
    JdkMembers(JdkVersion version) throws ReflectiveOperationException {
        this.version = version;
        Method[] ofThreads = toImplement(ThreadCalls.class);
        Method[] ofSwitches = toImplement(SwitchCalls.class);
        calls = "java/lang/GmpCalls$" + Integer.toHexString(hash(ofThreads) + hash(ofSwitches));
        aCalls = "L" + calls + ";";
        byte[] implementsThreads = threads(ofThreads);
        byte[] implementsSwitches = switches(ofSwitches);
        MethodHandles.Lookup l = MethodHandles.lookup();
        Class<?> c;
        boolean first = false;
        try {
            c = Class.forName(calls.replace('/', '.'), true, null); // Another copy of us was here before.
        } catch (ClassNotFoundException e) {
            c = MethodHandles.privateLookupIn(vt, l).defineClass(calls(ofThreads, ofSwitches));
            first = true;
        }
        define = l.findStatic(c, "define", MethodType.methodType(Class.class, Class.class, String.class, byte[].class));
        if (first) {
            Class<?> _ = define(vt, "java/lang/GmpThreads", implementsThreads);
            var _ = define(Continuation.class, "jdk/internal/vm/GmpSwitch", implementsSwitches);
        }
        MethodHandles.Lookup _ = l.defineHiddenClass(adapter(ThreadCalls.class, ofThreads, "threads"), true);
        var _ = l.defineHiddenClass(adapter(SwitchCalls.class, ofSwitches, "switches"), true);
        threads = ThreadCalls.made;
        switches = SwitchCalls.made;
        Continuation.pin(); // The export of jdk.internal.vm is checked here, not in the middle of a switch.
        Continuation.unpin();
    }

    Class<?> define(Class<?> nest, String name, byte[] b) throws ReflectiveOperationException {
        try {
            return (Class<?>) define.invokeExact(nest, name, b);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new ReflectiveOperationException(e);
        }
    }

    /** Others may stand beside the abstract ones: agents that rewrite classes add their own. */
    private static Method[] toImplement(Class<?> c) {
        Method[] all = c.getDeclaredMethods();
        int n = 0;
        for (Method m : all) {
            if (Modifier.isAbstract(m.getModifiers())) {
                all[n++] = m;
            }
        }
        return Arrays.copyOf(all, n);
    }

    private static String descriptor(Method m) {
        return Code.descriptor(m.getParameterTypes(), m.getReturnType());
    }

    private static int hash(Method[] methods) {
        int sum = 0;
        for (Method m : methods) {
            sum += (m.getName() + descriptor(m)).hashCode();
        }
        return sum;
    }

    /** The named class. */
    private byte[] calls(Method[] ofThreads, Method[] ofSwitches) throws ReflectiveOperationException {
        ClassFileWriter c = ClassFileWriter.ofAbstract(calls);
        int _ = c.addField("threads", aCalls) + c.addField("switches", aCalls);
        for (Method m : ofThreads) {
            c.addAbstract(m.getName(), descriptor(m));
        }
        for (Method m : ofSwitches) {
            c.addAbstract(m.getName(), descriptor(m));
        }
        constructor(c, "java/lang/Object");
        Class<?>[] types = {ClassLoader.class, Class.class, String.class, byte[].class, int.class, int.class,
            ProtectionDomain.class, boolean.class, int.class, Object.class};
        Code d = new Code(c).op(Code.ACONST_NULL).object(0).object(1).object(2).op(Code.ICONST_0).object(2).op(Code.ARRAYLENGTH)
                .op(Code.ACONST_NULL).op(Code.ICONST_1).op(Code.BIPUSH).op(NESTMATE_HIDDEN_STRONG).op(Code.ACONST_NULL)
                .callStatic(ClassLoader.class, "defineClass0", types).op(Code.ARETURN);
        c.addMethod(PUBLIC_STATIC, "define", "(Ljava/lang/Class;Ljava/lang/String;[B)Ljava/lang/Class;", DEFINE_STACK, 3, -1,
                d.bytes());
        return c.toBytes();
    }

    private static void constructor(ClassFileWriter c, String parent) {
        Code code = new Code(c).object(0).construct(parent).op(Code.RETURN);
        c.addMethod(PUBLIC, "<init>", "()V", MOST_STACK, 1, -1, code.bytes());
    }

    /** What passes the calls of one of our classes on to what {@code field} of the named class holds. */
    private byte[] adapter(Class<?> of, Method[] methods, String field) {
        String parent = Code.name(of);
        String name = parent + "Jdk";
        ClassFileWriter c = new ClassFileWriter(name, parent);
        int _ = c.addConstant("CALLS", aCalls);
        constructor(c, parent);
        Code init = new Code(c).getStatic(calls, field, aCalls).putStatic(name, "CALLS", aCalls);
        init.make(name).construct(name).putStatic(parent, "made", "L" + parent + ";").op(Code.RETURN);
        c.addMethod(STATIC, "<clinit>", "()V", MOST_STACK, 1, -1, init.bytes());
        for (Method m : methods) {
            String d = descriptor(m);
            Code code = new Code(c).getStatic(name, "CALLS", aCalls).arguments(d).call(calls, m.getName(), d).end(d);
            c.addMethod(0, m.getName(), d, MOST_STACK, Code.locals(d), -1, code.bytes());
        }
        return c.toBytes();
    }

    /** Begins an implementation; {@code init} makes the one object of it. */
    private Code begin(String name, Method[] methods, String field) {
        wanted = methods;
        written = 0;
        out = new ClassFileWriter(name, calls);
        constructor(out, calls);
        return code().make(name).construct(name).putStatic(calls, field, aCalls);
    }

    private byte[] end(Code init) {
        out.addMethod(STATIC, "<clinit>", "()V", MOST_STACK, 1, -1, init.op(Code.RETURN).bytes());
        if (written != wanted.length) {
            throw new AssertionError(written + " of " + wanted.length + " methods");
        }
        return out.toBytes();
    }

    private Code code() {
        return new Code(out);
    }

    /** Its first argument, which is a virtual thread. */
    private Code thread() {
        return code().object(1).cast(vt);
    }

    private Code unsafe() throws ReflectiveOperationException {
        return code().getStatic(vt, "U");
    }

    private void add(String name, Code code, String... annotations) {
        for (Method m : wanted) {
            if (m.getName().equals(name)) {
                String d = descriptor(m);
                out.addMethod(PUBLIC, name, d, MOST_STACK, Code.locals(d), -1, code.end(d).bytes(), annotations);
                written++;
                return;
            }
        }
        throw new AssertionError(name);
    }

    private static final String OWN = "java/lang/GmpThreads";

    private byte[] threads(Method[] methods) throws ReflectiveOperationException {
        Code init = begin(OWN, methods, "threads");
        Class<?> body = Class.forName("java.lang.VirtualThread$VThreadContinuation$1");
        Field task = taskField(body);
        offset(init, "SCHEDULER", vt, "scheduler");
        offset(init, "TASK", body, task.getName());
        offset(init, "NAME", Thread.class, "name");
        offset(init, "TAIL", Continuation.class, "tail");
        offset(init, "TARGET", Continuation.class, "target");
        offset(init, "SIZE", StackChunk.class, "size");
        offset(init, "SP", StackChunk.class, "sp");
        offset(init, "REDEFINED", Class.class, "classRedefinedCount");

        add("newVirtualThread", code().make(Code.name(vt)).object(1).object(2).op(Code.ICONST_0).object(3)
                .construct(vt, Executor.class, String.class, int.class, Runnable.class));
        add("mount", thread().call(vt, "mount"));
        add("unmount", thread().call(vt, "unmount"));
        Code unmountLight = code().object(2).object(2).call(Thread.class, "setCurrentThread", Thread.class)
                .getStatic(vt, "U").object(1).getStatic(vt, "CARRIER_THREAD").op(Code.ACONST_NULL)
                .call(UNSAFE, "putReferenceRelease", "(Ljava/lang/Object;JLjava/lang/Object;)V");
        if (version.transitions) {
            Code _ = unmountLight.getStatic(vt, "U").call(UNSAFE, "storeFence", "()V");
        }
        add("unmountLight", announce(unmountLight.object(1).cast(vt), false, false),
                ANNOTATION + "ChangesCurrentThread;", ANNOTATION + "ReservedStackAccess;");
        add("yieldContinuation", thread().call(vt, "yieldContinuation"));
        add("afterYield", thread().call(vt, "afterYield"));
        add("afterDone", thread().call(vt, "afterDone"));
        add("notifyAllAfterTerminate",
                version.joinsByMonitor ? thread().get(vt, "notifyAllAfterTerminate") : code().op(Code.ICONST_0));
        add("cancelTimeoutTask", thread().call(vt, "cancelTimeoutTask"));
        timeouts();
        add("startUnmount", announce(thread(), true, false));
        add("endUnmount", announce(thread(), false, false));
        add("endMount", announce(thread(), false, true));
        add("cont", thread().get(vt, "cont"));
        add("runContinuation", thread().get(vt, "runContinuation"));
        add("scheduler", thread().get(vt, "scheduler"));
        add("setScheduler", put(code().getStatic(vt, "U").object(1), "SCHEDULER"));
        add("defaultScheduler", code().callStatic(vt, "defaultScheduler"));
        words();
        add("interrupted", code().object(1).get(Thread.class, "interrupted"));
        add("interruptLock", code().object(1).get(Thread.class, "interruptLock"));
        Class<?> map = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
        add("threadLocals", code().object(1).call(Thread.class, "threadLocals"));
        add("inheritableThreadLocals", code().object(1).call(Thread.class, "inheritableThreadLocals"));
        add("clearThreadLocals", code().object(1).op(Code.ACONST_NULL).call(Thread.class, "setThreadLocals", map)
                .object(1).op(Code.ACONST_NULL).call(Thread.class, "setInheritableThreadLocals", map));
        add("setContainer", code().object(1).object(2).call(Thread.class, "setThreadContainer", ThreadContainer.class));
        add("scopes", code().object(1).call(Thread.class, "headStackableScopes"));
        add("casName", unsafe().object(1).getStatic(OWN, "NAME", "J").object(2).object(3)
                .call(UNSAFE, "compareAndSetReference", "(Ljava/lang/Object;JLjava/lang/Object;Ljava/lang/Object;)Z"));
        add("task", target(code()).cast(body).get(body, task.getName()));
        Code setTask = unsafe();
        add("setTask", put(target(setTask).cast(body), "TASK"));
        add("setTail", put(unsafe().object(1), "TAIL"));
        add("tail", reference(unsafe().object(1), "TAIL").cast(StackChunk.class));
        add("used", unsafe().object(1).getStatic(OWN, "SIZE", "J").call(UNSAFE, "getInt", "(Ljava/lang/Object;J)I")
                .getStatic(vt, "U").object(1).getStatic(OWN, "SP", "J").call(UNSAFE, "getInt", "(Ljava/lang/Object;J)I")
                .op(Code.ISUB));
        add("redefined", unsafe().object(1).getStatic(OWN, "REDEFINED", "J").call(UNSAFE, "getInt", "(Ljava/lang/Object;J)I"));
        add("shouldBeInitialized", unsafe().object(1).call(UNSAFE, "shouldBeInitialized", "(Ljava/lang/Class;)Z"));
        add("offset", unsafe().object(1).call(UNSAFE, "objectFieldOffset", "(Ljava/lang/reflect/Field;)J"));
        add("get", unsafe().object(1).big(2).call(UNSAFE, "getReference", "(Ljava/lang/Object;J)Ljava/lang/Object;"));
        add("put", unsafe().object(1).big(2).object(4).call(UNSAFE, "putReference", "(Ljava/lang/Object;JLjava/lang/Object;)V"));
        add("open", code().object(1).object(2).object(3).call(Module.class, "implAddOpens", String.class, Module.class));
        return end(init);
    }

    /** What a wait with a limit of time needs. */
    private void timeouts() throws ReflectiveOperationException {
        add("submitRunContinuation", thread().call(vt, "submitRunContinuation"));
        add("timeout", thread().get(vt, "timeout"));
        add("setTimeoutTask", thread().object(2).put(vt, "timeoutTask"));
        add("timedWaitLock", thread().call(vt, "timedWaitLock"));
        add("timedWaitSeqNo", thread().get(vt, "timedWaitSeqNo"));
        add("setTimedWaitSeqNo", thread().number(2).put(vt, "timedWaitSeqNo"));
        add("waitTimeoutExpired", thread().number(2).call(vt, "waitTimeoutExpired", byte.class));
        add("notified", thread().get(vt, "notified"));
        add("interruptibleWait", version.uninterruptibleWaits ? thread().get(vt, "interruptibleWait") : code().op(Code.ICONST_1));
        add("blockPermit", thread().get(vt, "blockPermit"));
    }

    /** Tells the JVM of one end of a switch of the thread on the stack. */
    private Code announce(Code c, boolean start, boolean mount) throws ReflectiveOperationException {
        if (version.transitions) {
            return c.op(mount ? Code.ICONST_1 : Code.ICONST_0).call(vt, start ? "startTransition" : "endTransition", boolean.class);
        }
        return c.op(start ? Code.ICONST_1 : Code.ICONST_0).call(vt, mount ? "notifyJvmtiMount" : "notifyJvmtiUnmount", boolean.class);
    }

    /** The words of a virtual thread's state. */
    private void words() throws ReflectiveOperationException {
        add("state", thread().get(vt, "state"));
        add("setState", thread().number(2).put(vt, "state"));
        add("setStateRelease", unsafe().object(1).getStatic(vt, "STATE").number(2)
                .call(UNSAFE, "putIntRelease", "(Ljava/lang/Object;JI)V"));
        add("casState", thread().number(2).number(3).call(vt, "compareAndSetState", int.class, int.class));
        add("parkPermit", thread().get(vt, "parkPermit"));
        add("setParkPermit", thread().number(2).put(vt, "parkPermit"));
        add("getAndSetParkPermit", thread().number(2).call(vt, "getAndSetParkPermit", boolean.class));
        add("setBlockPermit", thread().number(2).put(vt, "blockPermit"));
        add("carrier", thread().get(vt, "carrierThread"));
    }

    /** Adds a constant that says where a field is. */
    private void offset(Code init, String name, Class<?> owner, String field) throws ReflectiveOperationException {
        Field _ = owner.getDeclaredField(field);
        int _ = out.addConstant(name, "J");
        init.getStatic(vt, "U").type(owner).text(field).call(UNSAFE, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J")
                .putStatic(OWN, name, "J");
    }

    /** Of an unsafe and an object on the stack what is at an offset. */
    private static Code reference(Code c, String offset) {
        return c.getStatic(OWN, offset, "J").call(UNSAFE, "getReference", "(Ljava/lang/Object;J)Ljava/lang/Object;");
    }

    /** Puts the second argument there. */
    private static Code put(Code c, String offset) {
        return c.getStatic(OWN, offset, "J").object(2).call(UNSAFE, "putReference", "(Ljava/lang/Object;JLjava/lang/Object;)V");
    }

    /** What the first argument, a continuation, runs. */
    private Code target(Code c) throws ReflectiveOperationException {
        return reference(c.getStatic(vt, "U").object(1), "TARGET");
    }

    private byte[] switches(Method[] methods) throws ReflectiveOperationException {
        Code init = begin("jdk/internal/vm/GmpSwitch", methods, "switches");
        Class<?> cont = Continuation.class;
        String carrier = "()Ljava/lang/Thread;";
        String setContinuation = "(Ljava/lang/Thread;Ljdk/internal/vm/Continuation;)V";
        for (boolean again : new boolean[] {false, true}) {
            Code c = code();
            c.getStatic(cont, "JLA").object(1).get(cont, "scopedValueCache")
                    .callInterface(ACCESS, "setScopedValueCache", "([Ljava/lang/Object;)V", 2);
            c.getStatic(cont, "JLA").getStatic(cont, "JLA").callInterface(ACCESS, "currentCarrierThread", carrier, 1).object(1)
                    .callInterface(ACCESS, "setContinuation", setContinuation, 3);
            c.object(1).op(again ? Code.ICONST_1 : Code.ICONST_0).op(Code.ICONST_1)
                    .callStatic(cont, "enterSpecial", cont, boolean.class, boolean.class);
            c.getStatic(cont, "JLA").getStatic(cont, "JLA").callInterface(ACCESS, "currentCarrierThread", carrier, 1)
                    .op(Code.ACONST_NULL).callInterface(ACCESS, "setContinuation", setContinuation, 3);
            c.object(1).getStatic(cont, "JLA").callInterface(ACCESS, "scopedValueCache", "()[Ljava/lang/Object;", 1)
                    .put(cont, "scopedValueCache");
            c.getStatic(cont, "JLA").op(Code.ACONST_NULL)
                    .callInterface(ACCESS, "setScopedValueCache", "([Ljava/lang/Object;)V", 2);
            add(again ? "resume" : "start", c, ANNOTATION + "ForceInline;");
        }
        add("innermost", code().getStatic(cont, "JLA").getStatic(cont, "JLA")
                .callInterface(ACCESS, "currentCarrierThread", carrier, 1)
                .callInterface(ACCESS, "getContinuation", "(Ljava/lang/Thread;)Ljdk/internal/vm/Continuation;", 2),
                ANNOTATION + "ForceInline;");
        add("yield", code().callStatic(cont, "doYield"), ANNOTATION + "Hidden;", ANNOTATION + "JvmtiHideEvents;",
                ANNOTATION + "DontInline;");
        return end(init);
    }

    /** The field of the task in what a virtual thread's continuation runs, which is an object of a class without a name. */
    private static Field taskField(Class<?> body) throws NoSuchFieldException {
        for (Field f : body.getDeclaredFields()) {
            if (f.getType() == Runnable.class) {
                return f;
            }
        }
        throw new NoSuchFieldException(body.getName() + " without a task");
    }
}
