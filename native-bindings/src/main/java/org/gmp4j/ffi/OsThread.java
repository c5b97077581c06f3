// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.sched_param;

/**
 * Reads and sets the kernel's attributes of a thread. The "calling thread" is the OS thread, which for a virtual thread is its carrier.
 * Thread-safe.
 */
public final class OsThread {
    /** {@link #setScheduler}: the usual policy; priority 0. */
    public static final int SCHED_OTHER = linux_h.SCHED_OTHER;

    /** {@link #setScheduler}: the usual policy for work that is not interactive; priority 0. */
    public static final int SCHED_BATCH = linux_h.SCHED_BATCH;

    /** {@link #setScheduler}: real time, until the thread yields; priority 1 to 99. */
    public static final int SCHED_FIFO = linux_h.SCHED_FIFO;

    /** {@link #setScheduler}: real time, in time slices; priority 1 to 99. */
    public static final int SCHED_RR = linux_h.SCHED_RR;

    /** {@link #setScheduler}: a flag added to a policy. Threads that the thread creates get the usual policy. */
    public static final int RESET_ON_FORK = linux_h.SCHED_RESET_ON_FORK;

    private static final Call.Function GETTID = Call.function("gmp_gettid");
    private static final Call.Function GETPID = Call.function("gmp_getpid");
    private static final Call.Function SLICE = Call.function("gmp_sched_slice");
    private static final Call.Function CPU = Call.function("gmp_thread_cpu");
    private static final Call.Function STATE = Call.function("gmp_thread_state");

    private OsThread() {
    }

    /**
     * Returns the kernel's id of the calling thread.
     *
     * @return the id, positive
     */
    public static int gettid() {
        return (int) Call.critical(GETTID);
    }

    /**
     * Returns the kernel's id of this process, which is also the id of its first thread.
     *
     * @return the id, positive
     */
    public static int getpid() {
        return (int) Call.critical(GETPID);
    }

    /**
     * Sets the calling thread's timer slack, by which the kernel may prolong its sleeps to save wake-ups.
     *
     * @param nanos nanoseconds, 1 or more; 0 restores the slack that the thread inherited (usually 50,000)
     * @throws NativeException when the kernel refuses
     */
    public static void setTimerSlack(long nanos) {
        Cold.prctl("PR_SET_TIMERSLACK, " + nanos, linux_h.PR_SET_TIMERSLACK, nanos);
    }

    /**
     * Requests short time slices for a thread of this process. A thread that sleeps much then waits less for a CPU that other threads
     * use. Threads that it starts inherit the slices. Kernels before Linux 6.12 ignore the request.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param nanos nanoseconds, 100,000 to 100,000,000; 0 for the usual slices
     * @return whether the kernel accepted the request
     */
    public static boolean setSlice(int tid, long nanos) {
        return (int) Call.call(SLICE, tid, nanos, 0) == 0;
    }

    /**
     * Requests time slices for HotSpot's VM thread, as {@link #setSlice} does. Threads of the runtime do not get them, because
     * {@link Inheritance#begin} sets the slices that the VM thread had before.
     *
     * @param nanos nanoseconds, 100,000 to 100,000,000; 0 for the slices before
     * @return whether the thread was found and the kernel accepted the request
     */
    public static boolean setVmSlice(long nanos) {
        return (int) Call.call(Call.function("gmp_vm_slice"), nanos) == 0;
    }

    /**
     * Returns the calling thread's timer slack.
     *
     * @return nanoseconds
     */
    public static int timerSlack() {
        return Cold.prctl("PR_GET_TIMERSLACK", linux_h.PR_GET_TIMERSLACK, 0);
    }

    /**
     * Names the calling thread, for {@code ps}, {@code top} and {@code perf}.
     *
     * @param name the name, of which the kernel keeps 15 bytes of UTF-8
     */
    public static void setName(String name) {
        Cold.setName(name);
    }

    /**
     * Sets a thread's scheduling policy.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param policy one of the {@code SCHED} constants
     * @param priority 1 to 99 for the real-time policies, otherwise 0
     * @throws NativeException EPERM without the permission, EINVAL for a policy with a wrong priority, ESRCH when there is no such thread
     */
    public static void setScheduler(int tid, int policy, int priority) {
        Cold.setScheduler(tid, policy, priority);
    }

    /**
     * Returns a thread's scheduling policy.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return one of the {@code SCHED} constants
     * @throws NativeException ESRCH when there is no such thread
     */
    public static int scheduler(int tid) {
        return Cold.scheduler(tid);
    }

    /**
     * Returns the CPU time of a thread of this process. Unlike {@code /proc}, it is exact also while the thread runs. Does not
     * allocate.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return nanoseconds, or the negated error number ({@code -Errno.EINVAL} when this process has no such thread)
     */
    public static long cpuNanos(int tid) {
        return Call.call(CPU, tid);
    }

    /**
     * Reads the state of a thread of this process from {@code /proc}. Does not allocate, and keeps no file open.
     *
     * @param tid the kernel's thread id
     * @return {@code 'R'} when it has a CPU or waits for one, another letter such as {@code 'S'} when it sleeps, or the negated error
     *     number (when there is no such thread, or too many files are open)
     */
    public static int state(int tid) {
        return (int) Call.call(STATE, tid);
    }

    /** Calls that a start does not make. A class of its own, because they need the JDK's linker and segments. */
    private static final class Cold {
        static final MethodHandle SETSCHEDULER =
                Link.capturing(linux_h.sched_setscheduler$address(), linux_h.sched_setscheduler$descriptor());
        static final MethodHandle GETSCHEDULER =
                Link.capturing(linux_h.sched_getscheduler$address(), linux_h.sched_getscheduler$descriptor());

        /** {@code int prctl(int option, ...)}. The options used here take one argument, which is a long. */
        static final MethodHandle PRCTL = Link.capturingVariadic(
                linux_h.prctl.address(), FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG), 1);

        static void setName(String name) {
            try (Arena arena = Arena.ofConfined()) {
                prctl("PR_SET_NAME, " + name, linux_h.PR_SET_NAME, arena.allocateFrom(name).address());
            }
        }

        static void setScheduler(int tid, int policy, int priority) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment param = sched_param.allocate(arena);
                sched_param.sched_priority(param, priority);
                MemorySegment state = Link.state(arena);
                int r = (int) SETSCHEDULER.invokeExact(state, tid, policy, param);
                if (r < 0) {
                    throw new NativeException(
                            "sched_setscheduler(" + tid + ", policy " + policy + ", priority " + priority + ")",
                            Link.errno(state));
                }
            } catch (Throwable t) {
                throw Link.unexpected(t);
            }
        }

        static int scheduler(int tid) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment state = Link.state(arena);
                int r = (int) GETSCHEDULER.invokeExact(state, tid);
                if (r < 0) {
                    throw new NativeException("sched_getscheduler(" + tid + ")", Link.errno(state));
                }
                return r;
            } catch (Throwable t) {
                throw Link.unexpected(t);
            }
        }

        static int prctl(String what, int option, long argument) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment state = Link.state(arena);
                int r = (int) PRCTL.invokeExact(state, option, argument);
                if (r < 0) {
                    throw new NativeException("prctl(" + what + ")", Link.errno(state));
                }
                return r;
            } catch (Throwable t) {
                throw Link.unexpected(t);
            }
        }
    }
}
