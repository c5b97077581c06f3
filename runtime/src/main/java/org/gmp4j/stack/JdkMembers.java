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
 * Makes the classes that implement {@link ThreadCalls} and {@link SwitchCalls}. Their code is inside the JDK, and the runtime reaches it by
 * plain calls. (Rejected: method handles. The JVM generates classes for each type of method handle, which adds many classes to a start. The
 * JIT compilers have to inline the handle at each call.)
 *
 * <pre>
 * JdkThreads ─▶ ThreadCalls                                  ours
 *                   ▲ a hidden class beside it: calls GmpCalls.threads
 *                   │
 *               java.lang.GmpCalls…                          in java.base; abstract, public, with a name by which it is found
 *                   ▲                      ▲
 *               GmpThreads               GmpSwitch           hidden classes in the nests of VirtualThread and Continuation,
 *                                                            which may use the private members of these
 * </pre>
 *
 * <p>In Java the two hidden classes of java.base would be
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
 *         U.storeFence();                           // From JDK 26 on, before endTransition: the JVM reads the carrier after it.
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
 * <p>{@code unmountLight} has the annotation {@code ChangesCurrentThread}, which means for the JIT compilers that the current thread
 * changes in the method. Without the annotation they could read {@code Thread.currentThread()} once and use the value before and after the
 * change.
 *
 * <p>{@code start} and {@code resume} omit steps of {@code Continuation.run} that are for nested continuations, and for continuations that
 * any thread may run. The runtime's continuations are outermost, and the M that made the thread RUNNING runs them. The frames that a yield
 * removes execute no return instruction, so the processor mispredicts one return for each frame between the M's loop and the continuation.
 * Therefore the methods are inlined into the M's loop, which matters most for the speed of a switch.
 *
 * <p>{@code yield} must have a frame of its own. If a goroutine began before its first methods were compiled, the bottom of its stack has
 * interpreted frames as long as it lives. A switch that moves an interpreted frame takes longer. HotSpot moves two frames of such a stack
 * when it resumes the goroutine: the frame of {@code yield} and, if all calls in the goroutine's loop are inlined, the loop's compiled
 * frame. So it moves no interpreted frame.
 *
 * <p>The name of the named class contains a hash of its methods. So a copy of gmp4j in another class loader uses the same class if it has
 * the same methods.
 */
final class JdkMembers {
    private static final String ACCESS = "jdk/internal/access/JavaLangAccess";
    private static final String UNSAFE = "jdk/internal/misc/Unsafe";
    private static final String OWN = "java/lang/GmpThreads";
    private static final String ANNOTATION = "Ljdk/internal/vm/annotation/";

    private static final int PUBLIC = 0x0001;
    private static final int STATIC = 0x0008;
    private static final int PUBLIC_STATIC = 0x0009;
    private static final int NESTMATE_HIDDEN_STRONG = 7;
    /** The slots of the operand stack in each method that is written. C1 does not inline a method that has many more. */
    private static final int MOST_STACK = 6;
    private static final int DEFINE_STACK = 10;

    private final JdkVersion version;
    final ThreadCalls threads;
    final SwitchCalls switches;

    /** Defines a hidden class in the nest of a class of java.base, and initialises it. */
    private final MethodHandle define;
    final Class<?> vt = Class.forName("java.lang.VirtualThread");
    /** The internal name of the named class. */
    private final String calls;
    /** The descriptor of the named class. */
    private final String aCalls;
    /** The methods to be implemented by the class that is being written. */
    private Method[] wanted = new Method[0];
    /** The number of these methods that are written. */
    private int written;
    /** The class file that is being written. */
    @SuppressWarnings("NullAway.Init") // See begin.
    private ClassFileWriter out;

    /**
     * Looks all members up, and defines the classes.
     *
     * @throws ReflectiveOperationException when a member is missing
     */
    JdkMembers(JdkVersion version) throws ReflectiveOperationException {
        this.version = version;
        Method[] ofThreads = toImplement(ThreadCalls.class);
        Method[] ofSwitches = toImplement(SwitchCalls.class);
        calls = "java/lang/GmpCalls$" + Integer.toHexString(hash(ofThreads) + hash(ofSwitches));
        aCalls = "L" + calls + ";";
        byte[] implementsThreads = threads(ofThreads);
        byte[] implementsSwitches = switches(ofSwitches);
        MethodHandles.Lookup l = MethodHandles.lookup();
        synchronized (vt) { // All copies of gmp4j share this lock, so that one copy defines the classes, and the others find all of them.
            Class<?> c;
            boolean first = false;
            try {
                c = Class.forName(calls.replace('/', '.'), true, null);
            } catch (ClassNotFoundException e) {
                c = MethodHandles.privateLookupIn(vt, l).defineClass(calls(ofThreads, ofSwitches));
                first = true;
            }
            define = l.findStatic(c, "define", MethodType.methodType(Class.class, Class.class, String.class, byte[].class));
            if (first) {
                Class<?> _ = define(vt, OWN, implementsThreads);
                var _ = define(Continuation.class, "jdk/internal/vm/GmpSwitch", implementsSwitches);
            }
        }
        MethodHandles.Lookup _ = l.defineHiddenClass(adapter(ThreadCalls.class, ofThreads, "threads"), true);
        var _ = l.defineHiddenClass(adapter(SwitchCalls.class, ofSwitches, "switches"), true);
        threads = ThreadCalls.made;
        switches = SwitchCalls.made;
        Continuation.pin(); // Throws here, instead of in the middle of a switch, if jdk.internal.vm is not exported.
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

    /** Returns the abstract methods of a class. The class may have other methods, which agents have added. */
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

    /** Returns the class file of the named class. */
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

    /**
     * Returns the class file of an implementation of {@code of}, whose methods call the methods of the object in {@code field} of the named
     * class.
     */
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

    /**
     * Begins an implementation of the named class. Returns the beginning of its initialiser, which makes its only object and stores it in
     * {@code field} of the named class.
     */
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

    /** Begins the code of a method with a load of its first argument, a virtual thread. */
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
        add("setTask", put(target(unsafe()).cast(body), "TASK"));
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

    /** Adds the methods that a wait with a time limit needs. */
    private void timeouts() throws ReflectiveOperationException {
        add("submitRunContinuation", thread().call(vt, "submitRunContinuation"));
        add("timeout", thread().get(vt, "timeout"));
        add("setTimeoutTask", thread().object(2).put(vt, "timeoutTask"));
        add("timedWaitLock", thread().call(vt, "timedWaitLock"));
        add("timedWaitSeqNo", thread().get(vt, "timedWaitSeqNo"));
        add("setTimedWaitSeqNo", thread().number(2).put(vt, "timedWaitSeqNo"));
        add("notified", thread().get(vt, "notified"));
        add("interruptibleWait", version.uninterruptibleWaits ? thread().get(vt, "interruptibleWait") : code().op(Code.ICONST_1));
        add("blockPermit", thread().get(vt, "blockPermit"));
    }

    /** Adds a call that reports to the JVM the start or the end of a mount or unmount of the thread on the operand stack. */
    private Code announce(Code c, boolean start, boolean mount) throws ReflectiveOperationException {
        if (version.transitions) {
            return c.op(mount ? Code.ICONST_1 : Code.ICONST_0).call(vt, start ? "startTransition" : "endTransition", boolean.class);
        }
        return c.op(start ? Code.ICONST_1 : Code.ICONST_0).call(vt, mount ? "notifyJvmtiMount" : "notifyJvmtiUnmount", boolean.class);
    }

    /** Adds the methods that read and write a virtual thread's state. */
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

    /** Adds a constant {@code name} with the offset of a field to the class {@link #OWN}. */
    private void offset(Code init, String name, Class<?> owner, String field) throws ReflectiveOperationException {
        Field _ = owner.getDeclaredField(field);
        int _ = out.addConstant(name, "J");
        init.getStatic(vt, "U").type(owner).text(field).call(UNSAFE, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J")
                .putStatic(OWN, name, "J");
    }

    /** Adds a read of the reference at an offset of an object. The Unsafe and the object are on the operand stack. */
    private static Code reference(Code c, String offset) {
        return c.getStatic(OWN, offset, "J").call(UNSAFE, "getReference", "(Ljava/lang/Object;J)Ljava/lang/Object;");
    }

    /** Adds a write of the second argument to an offset of an object. The Unsafe and the object are on the operand stack. */
    private static Code put(Code c, String offset) {
        return c.getStatic(OWN, offset, "J").object(2).call(UNSAFE, "putReference", "(Ljava/lang/Object;JLjava/lang/Object;)V");
    }

    /** Adds a read of the {@code Runnable} that the first argument, a continuation, runs. */
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

    /** Returns the field with the task in {@code body}, the class of the {@code Runnable} that a virtual thread's continuation runs. */
    private static Field taskField(Class<?> body) throws NoSuchFieldException {
        for (Field f : body.getDeclaredFields()) {
            if (f.getType() == Runnable.class) {
                return f;
            }
        }
        throw new NoSuchFieldException(body.getName() + " without a task");
    }
}
