package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackableScope;
import jdk.internal.vm.ThreadContainer;

/** The private members of the JDK that {@link JdkThreads} uses, looked up at once: one that is missing is one exception. */
final class JdkMembers {
    final MethodHandle newVthread;
    final SwitchClasses switches;
    final MethodHandle notifyUnmount;
    final MethodHandle notifyMount;
    final MethodHandle interruptLock;
    final MethodHandle mount;
    final MethodHandle unmount;
    final MethodHandle yield;
    final MethodHandle afterYield;
    final MethodHandle afterDone;
    final MethodHandle cancelTimeout;
    final MethodHandle cont;
    final MethodHandle runContinuation;
    final MethodHandle scheduler;
    final MethodHandle defaultScheduler;
    final Field schedulerField;
    final VarHandle state;
    final VarHandle parkPermit;
    final VarHandle blockPermit;
    final VarHandle interrupted;
    final MethodHandle threadLocals;
    final MethodHandle setThreadLocals;
    final MethodHandle inheritableThreadLocals;
    final MethodHandle setInheritableThreadLocals;
    /** Of a thread's continuation what it runs; of that, the task that the thread was made with. */
    final MethodHandle target;
    final MethodHandle task;
    final MethodHandle setTask;
    final MethodHandle setContainer;
    final VarHandle scopes;
    final VarHandle name;
    final VarHandle carrier;

    /** Looks them up; those of the switch, which define classes, only if it is not left to the JDK. */
    JdkMembers(boolean jdkMount) throws ReflectiveOperationException {
        Class<?> vt = Class.forName("java.lang.VirtualThread");
        MethodHandles.Lookup l = MethodHandles.privateLookupIn(vt, MethodHandles.lookup());
        MethodHandles.Lookup tl = MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
        MethodType onThread = MethodType.methodType(void.class, Thread.class);
        MethodType nothing = MethodType.methodType(void.class);
        newVthread = l.findConstructor(vt, MethodType.methodType(void.class, Executor.class, String.class, int.class,
                Runnable.class)).asType(MethodType.methodType(Thread.class, Executor.class, String.class, int.class,
                Runnable.class));
        switches = jdkMount ? null : new SwitchClasses(vt);
        MethodType hide = MethodType.methodType(void.class, boolean.class);
        MethodType notify = MethodType.methodType(void.class, Thread.class, boolean.class);
        notifyUnmount = l.findVirtual(vt, "notifyJvmtiUnmount", hide).asType(notify);
        notifyMount = l.findVirtual(vt, "notifyJvmtiMount", hide).asType(notify);
        interruptLock = tl.findGetter(Thread.class, "interruptLock", Object.class);
        mount = l.findVirtual(vt, "mount", nothing).asType(onThread);
        unmount = l.findVirtual(vt, "unmount", nothing).asType(onThread);
        yield = l.findVirtual(vt, "yieldContinuation", MethodType.methodType(boolean.class))
                .asType(MethodType.methodType(boolean.class, Thread.class));
        afterYield = l.findVirtual(vt, "afterYield", nothing).asType(onThread);
        afterDone = l.findVirtual(vt, "afterDone", nothing).asType(onThread);
        cancelTimeout = l.findVirtual(vt, "cancelTimeoutTask", nothing).asType(onThread);
        cont = l.findGetter(vt, "cont", Continuation.class)
                .asType(MethodType.methodType(Continuation.class, Thread.class));
        runContinuation = l.findGetter(vt, "runContinuation", Runnable.class)
                .asType(MethodType.methodType(Runnable.class, Thread.class));
        scheduler = l.findGetter(vt, "scheduler", Executor.class)
                .asType(MethodType.methodType(Executor.class, Thread.class));
        defaultScheduler = l.findStatic(vt, "defaultScheduler", MethodType.methodType(Executor.class));
        schedulerField = vt.getDeclaredField("scheduler");
        schedulerField.setAccessible(true);
        state = word(l, vt, "state", int.class);
        parkPermit = word(l, vt, "parkPermit", boolean.class);
        blockPermit = word(l, vt, "blockPermit", boolean.class);
        interrupted = word(tl, Thread.class, "interrupted", boolean.class);
        Class<?> map = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
        MethodType get = MethodType.methodType(Object.class, Thread.class);
        MethodType set = MethodType.methodType(void.class, Thread.class, Object.class);
        threadLocals = tl.findGetter(Thread.class, "threadLocals", map).asType(get);
        setThreadLocals = tl.findSetter(Thread.class, "threadLocals", map).asType(set);
        inheritableThreadLocals = tl.findGetter(Thread.class, "inheritableThreadLocals", map).asType(get);
        setInheritableThreadLocals = tl.findSetter(Thread.class, "inheritableThreadLocals", map).asType(set);
        target = SwitchClasses.target();
        Field field = taskField();
        field.setAccessible(true);
        task = l.unreflectGetter(field).asType(MethodType.methodType(Runnable.class, Runnable.class));
        setTask = l.unreflectSetter(field).asType(MethodType.methodType(void.class, Runnable.class, Runnable.class));
        setContainer = tl.findVirtual(Thread.class, "setThreadContainer",
                MethodType.methodType(void.class, ThreadContainer.class)).asType(set);
        scopes = word(tl, Thread.class, "headStackableScopes", StackableScope.class);
        name = word(tl, Thread.class, "name", String.class);
        carrier = word(l, vt, "carrierThread", Thread.class);
        Continuation.pin(); // The export of jdk.internal.vm is checked here, not in the middle of a switch.
        Continuation.unpin();
    }

    /** The field of the task in what a virtual thread's continuation runs, which is an object of a class without a name. */
    private static Field taskField() throws ReflectiveOperationException {
        Class<?> body = Class.forName("java.lang.VirtualThread$VThreadContinuation$1");
        for (Field f : body.getDeclaredFields()) {
            if (f.getType() == Runnable.class) {
                return f;
            }
        }
        throw new NoSuchFieldException(body.getName() + " without a task");
    }

    /** A field's handle that takes a Thread: the class it is declared in cannot be named. */
    private static VarHandle word(MethodHandles.Lookup l, Class<?> in, String field, Class<?> type)
            throws ReflectiveOperationException {
        MethodHandle cast = MethodHandles.identity(in).asType(MethodType.methodType(in, Thread.class));
        return MethodHandles.filterCoordinates(l.findVarHandle(in, field, type), 0, cast).withInvokeExactBehavior();
    }
}
