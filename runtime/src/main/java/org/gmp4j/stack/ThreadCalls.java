// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.StackableScope;
import jdk.internal.vm.ThreadContainer;
import org.jspecify.annotations.Nullable;

/**
 * Calls to private members of {@code java.lang.VirtualThread}, {@code Thread} and {@code Continuation}. {@link JdkMembers} writes the
 * implementation. A method has the name of the JDK's method that it calls or of the field that it reads. With the prefix {@code set} it
 * writes the field. A {@code Thread vt} is a {@code VirtualThread}, a {@code Thread t} is any thread. Reads and writes have the mode that
 * the JDK declares for the field, unless the name or the comment says otherwise. All words of a thread's state are volatile.
 */
abstract class ThreadCalls {
    /** The only object of the implementation, whose initialiser stores it here. */
    @SuppressWarnings("NullAway.Init")
    static ThreadCalls made;

    abstract Thread newVirtualThread(Executor scheduler, String name, Runnable body);

    abstract void mount(Thread vt);

    abstract void unmount(Thread vt);

    /** Unmounts the thread without the lock of {@code unmount}, for a host that itself waits for interrupters. */
    abstract void unmountLight(Thread vt, Thread carrier);

    abstract boolean yieldContinuation(Thread vt);

    abstract void afterYield(Thread vt);

    abstract void afterDone(Thread vt);

    /** Returns whether {@code afterDone} takes the thread's monitor, to wake threads that join it. */
    abstract boolean notifyAllAfterTerminate(Thread vt);

    abstract void cancelTimeoutTask(Thread vt);

    abstract void submitRunContinuation(Thread vt);

    /** Returns the time limit of the thread's present wait, in nanoseconds for a park, in milliseconds for {@code Object.wait}. */
    abstract long timeout(Thread vt);

    abstract void setTimeoutTask(Thread vt, Future<?> task);

    /** Returns the lock under which {@link #timedWaitSeqNo} is read and written. */
    abstract Object timedWaitLock(Thread vt);

    abstract int timedWaitSeqNo(Thread vt);

    abstract void setTimedWaitSeqNo(Thread vt, int number);

    /** Reports to the JVM that the thread begins to unmount. */
    abstract void startUnmount(Thread vt);

    /** Reports to the JVM that the thread has been unmounted, as {@code unmount} does. */
    abstract void endUnmount(Thread vt);

    /** Reports to the JVM that the thread has been mounted, as {@code mount} does. */
    abstract void endMount(Thread vt);

    abstract Continuation cont(Thread vt);

    abstract Runnable runContinuation(Thread vt);

    abstract Executor scheduler(Thread vt);

    /** Sets the scheduler, a final field. The thread was submitted to a scheduler, and has not run since. */
    abstract void setScheduler(Thread vt, Executor scheduler);

    abstract Executor defaultScheduler();

    abstract int state(Thread vt);

    abstract void setState(Thread vt, int state);

    abstract void setStateRelease(Thread vt, int state);

    abstract boolean casState(Thread vt, int from, int to);

    abstract boolean parkPermit(Thread vt);

    abstract void setParkPermit(Thread vt, boolean permit);

    abstract boolean getAndSetParkPermit(Thread vt, boolean permit);

    abstract boolean blockPermit(Thread vt);

    abstract void setBlockPermit(Thread vt, boolean permit);

    abstract boolean notified(Thread vt);

    /** Returns whether an interrupt ends the thread's present {@code Object.wait}. */
    abstract boolean interruptibleWait(Thread vt);

    abstract Thread carrier(Thread vt);

    abstract boolean interrupted(Thread t);

    abstract Object interruptLock(Thread t);

    abstract Object threadLocals(Thread t);

    abstract Object inheritableThreadLocals(Thread t);

    /** Removes the thread's thread locals, the inheritable ones too. */
    abstract void clearThreadLocals(Thread t);

    abstract void setContainer(Thread t, ThreadContainer container);

    abstract StackableScope scopes(Thread t);

    abstract boolean casName(Thread t, String from, String to);

    /** Returns the task of a virtual thread's continuation, with which the thread was made. */
    abstract Runnable task(Continuation c);

    /** Sets the task, a final field. The continuation must not have run yet. */
    abstract void setTask(Continuation c, Runnable task);

    /** Returns the newest of the chunks that hold a continuation's frames. Each chunk refers to the next older one. */
    abstract StackChunk tail(Continuation c);

    abstract void setTail(Continuation c, StackChunk tail);

    /** Returns how many words of a chunk hold frames. */
    abstract int used(StackChunk c);

    /**
     * Returns how many times agents have changed a class after it was loaded. The JVM counts at a safepoint, so a plain read sees the
     * present number.
     */
    abstract int redefined(Class<?> c);

    abstract boolean shouldBeInitialized(Class<?> c);

    /** Returns the offset of an instance's field, for {@link #get} and {@link #put}. */
    abstract long offset(Field f);

    /** Reads a field that holds a reference. The read is plain. */
    abstract Object get(Object o, long offset);

    /** Writes a field that holds a reference, even a final one. The write is plain. */
    abstract void put(Object o, long offset, @Nullable Object value);

    /** Opens a package of the module {@code m} to the module {@code to}. */
    abstract void open(Module m, String packageName, Module to);
}
