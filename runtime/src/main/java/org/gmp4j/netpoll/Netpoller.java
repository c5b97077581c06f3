// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.ProcessEnd;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Netpoll;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.PollDesc;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * {@code netpoll}: epoll, one instance for each scheduler, made when a goroutine first waits for a descriptor, or gets one of {@code
 * org.gmp4j.net}. An M polls without blocking when its P has nothing else to run, one M at a time. The M that would be the last to watch
 * timers sleeps in the poller; beside it none polls, but for one that spins under a latency policy. Sysmon polls when no M did for 10 ms.
 * No other thread does.
 *
 * <p>A registration serves one wait (EPOLLONESHOT), as the JDK's do, because the JDK may close a descriptor between two waits without
 * telling us. The kernel knows a descriptor only once in an instance, but one goroutine may read while another writes. So there are two
 * instances; that of the readers watches that of the writers as one more descriptor. Rejected: one registration for both directions,
 * which takes a lock around its change and has the kernel report each wait for reading as writable.
 *
 * <pre>
 *  the goroutine that waits                   an M that polls
 *  1 word 0 -> G and tag                      1 epoll_wait gives descriptor and tag
 *  2 epoll_ctl with the tag                   2 word with that tag -> READY; else the event is stale: nothing
 *  3 park                                     3 unpark
 *  4 word -> 0; if it was not READY,
 *    epoll_ctl takes the registration back
 * </pre>
 *
 * <p>No readiness is lost. If a descriptor is ready before step 2 on the left the kernel reports it all the same, since epoll_ctl looks.
 * The word is written before that, so the M that gets the event finds it. If step 3 on the right comes before step 3 on the left, the
 * thread's permit is set and the park returns at once.
 *
 * <p>No stale event wakes a goroutine. While an M holds an event in its buffer the goroutine may give up, the descriptor be closed, and
 * another with the same number be opened and waited for; but the new wait has another tag. The same holds for an armed registration of a
 * file that is still open elsewhere, in a child process, under a number that means another file here. The goroutine that is unparked at
 * step 3 may have gone on since step 2, because of a time-out, an interrupt or a close, and may even have ended. The goroutine that has its
 * slot by then gets a permit for nothing. Every user of {@code park} allows for that, and the JDK's own pollers do it as well.
 *
 * <p>The poller is polled while anything waits in it. The count of waiters grows before the goroutine parks; its M then looks for work, and
 * polls or, as the last, sleeps in the poller ({@code FindRunnable.giveUp}). If the M does not get there, sysmon polls.
 *
 * <p>The sockets of {@code org.gmp4j.net} are ours until we close them, so they are registered once, edge-triggered, for both
 * directions, with the readers: see {@link Registration}.
 *
 * <p>Until the first wait the M that watches timers sleeps on a futex; {@link #open} ends that sleep, and the first one in epoll, once.
 * So a thread that found it not open, and rang the futex, is heard in either.
 */
public final class Netpoller implements Netpoll, EdgePoller {
    /** Events that one epoll_wait takes. */
    private static final int EVENTS = 128;
    private static final long ASK_AGAIN = 1_000_000_000;
    private static final long BREAK = -1;
    private static final long WRITERS = -2;
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Whether there is an epoll instance. Written once, under the lock, after all that belongs to it. */
    private volatile boolean open;
    /** When a goroutine found that none could be made for the JDK's sockets; the next asks again a second later. 0 for never. */
    private volatile long failedAt;
    /** Written by {@link #close}, when all goroutines have ended; read by whoever registers a descriptor of {@code org.gmp4j.net}. */
    private volatile boolean closed;
    private int readers = -1;
    private int writers = -1;
    private int breaker = -1;
    /** Two buffers: one for the M that blocks, one for a look without blocking. */
    private long buffers;
    /** The structs pollDesc by descriptor, 0 for none yet. The array and its elements are written under the lock. */
    private volatile long[] descs = new long[0];
    /** Those of descriptors that are registered for good. */
    private final PollCache cache = new PollCache();

    /** What {@link #poll} found, of one caller: the list's ends. Nothing is allocated while polling. */
    private static final class Found {
        private long first;
        private long last;
        private int count;

        private void add(long gp) {
            count++;
            G.SCHEDLINK.set(gp, 0);
            if (last == 0) {
                first = gp;
            } else {
                G.SCHEDLINK.set(last, gp);
            }
            last = gp;
        }

        private long take() {
            long list = first;
            first = 0;
            last = 0;
            count = 0;
            return list;
        }
    }

    private final Found blocking = new Found();
    private final Found looking = new Found();

    /** Of a scheduler to be made. */
    public Netpoller() {
        JdkPollers.use(JdkWaits.INSTANCE);
    }

    @Override
    public long poll(Scheduler s, long delay) {
        if (!open) {
            return NONE.poll(s, delay);
        }
        if (delay != 0) {
            return poll(s, delay, buffers, blocking);
        }
        if (Schedt.POLLINGNET.getAndSet(s.sched, 1) != 0) {
            return 0; // Another looks, and finds what there is.
        }
        try {
            return poll(s, 0, buffers + (long) EVENTS * Epoll.EVENT_BYTES, looking);
        } finally { // Without memory for a call it looks again.
            Schedt.POLLINGNET.setRelease(s.sched, 0);
        }
    }

    /** After a wait has ended by its waiter: as {@code Inject.look}. */
    static void noneWaits(Scheduler s) {
        if (s.config.deadlockDetection() && Schedt.NETPOLLWAITERS.getVolatile(s.sched) == 0 && Schedt.LASTPOLL.getVolatile(s.sched) == 0) {
            s.netpoll().wake(s);
        }
    }

    private long poll(Scheduler s, long delay, long events, Found found) {
        int n = await(readers, events, EVENTS, delay);
        boolean write = false;
        for (int i = 0; i < n; i++) {
            long data = Epoll.dataAt(events, i);
            if (data >= PollCache.FOR_GOOD) {
                changed(s, PollCache.of(data), Epoll.eventsAt(events, i), found);
            } else if (data >= 0) {
                ready(s, data, false, found);
            } else if (data == WRITERS) {
                write = true;
            } else if (delay != 0) { // A look that does not wait leaves it to the M that does.
                long _ = EventFd.take(breaker);
                Schedt.NETPOLLWAKESIG.setVolatile(s.sched, 0); // Then the caller looks at its timers again.
            }
        }
        if (write) {
            n = await(writers, events, EVENTS, 0);
            for (int i = 0; i < n; i++) {
                ready(s, Epoll.dataAt(events, i), true, found);
            }
        }
        boolean look = delay == 0;
        (look ? SchedStat.NPOLL : SchedStat.NPOLLBLOCK).addOpaque(s.sched, 1);
        (look ? SchedStat.NREADY : SchedStat.NREADYBLOCK).addOpaque(s.sched, found.count);
        return found.take();
    }

    /** How many events there are, at most so many; or -EINTR. */
    static int await(int epfd, long events, int most, long nanos) {
        boolean naps = nanos != 0 && ProcessEnd.begun();
        if (naps) {
            ProcessEnd.nap(nanos);
        }
        int n = Epoll.awaitNanos(epfd, events, most, naps ? 0 : nanos);
        if (n < 0 && n != -Errno.EINTR) {
            throw Throw.of("netpoll: epoll_wait failed with error " + -n);
        }
        return n;
    }

    /** {@code netpollready}, of a descriptor that is registered for good. */
    private static void changed(Scheduler s, long pd, int events, Found found) {
        if (pd == 0) {
            return;
        }
        PollCache.note(pd, events);
        if (PollCache.readable(events)) {
            found(s, Registration.unblock(pd, false, true), found);
        }
        if (PollCache.writable(events)) {
            found(s, Registration.unblock(pd, true, true), found);
        }
    }

    private static void found(Scheduler s, long gp, Found found) {
        if (gp != 0) {
            int _ = Schedt.addNetpollWaiters(s.sched, -1);
            found.add(gp);
        }
    }

    private void ready(Scheduler s, long data, boolean write, Found found) {
        long pd = existing((int) data);
        long word = PollDesc.waiterVolatile(pd, write);
        if (PollDesc.tag(word) != (int) (data >>> Integer.SIZE) || !PollDesc.casWaiter(pd, write, word, PollDesc.READY)) {
            return;
        }
        int _ = Schedt.addNetpollWaiters(s.sched, -1);
        // Read only now: if the goroutine has not gone on meanwhile this is its stack, else that of another, or none.
        if (GSlots.stack(PollDesc.g(word)) instanceof GStack st) {
            long gp = st.netReady();
            if (gp != 0) {
                found.add(gp);
            }
        }
    }

    @Override
    public void wake(Scheduler s) {
        if (!open) {
            NONE.wake(s);
        } else if (Schedt.NETPOLLWAKESIG.compareAndSet(s.sched, 0, 1)) {
            int _ = EventFd.add(breaker, 1);
        }
    }

    @Override
    public boolean anyWaiters(Scheduler s) {
        return Schedt.NETPOLLWAITERS.getVolatile(s.sched) > 0;
    }

    // The waiting side

    /**
     * The calling goroutine is about to wait until a descriptor is ready. On its stack, inside {@code GStack.enter}; the only
     * one that waits in this direction.
     *
     * @return 0; an error number of epoll_ctl; or -1 when there is no epoll instance to be had
     */
    int register(GStack st, int fd, boolean write) {
        Scheduler s = st.scheduler();
        if (!open && !open(s)) {
            return -1;
        }
        long pd = existing(fd);
        if (pd == 0) {
            pd = make(fd);
        }
        int tag = PollDesc.nextTag(pd, write);
        long word = PollDesc.word(st.gp(), tag);
        PollDesc.setWaiterVolatile(pd, write, word);
        int _ = Schedt.addNetpollWaiters(s.sched, 1);
        int epfd = write ? writers : readers;
        int events = (write ? Epoll.OUT : Epoll.IN) | Epoll.ONESHOT;
        long data = (long) tag << Integer.SIZE | fd;
        int e = Epoll.control(epfd, Epoll.MODIFY, fd, events, data);
        if (e == Errno.ENOENT) {
            e = Epoll.control(epfd, Epoll.ADD, fd, events, data);
        }
        if (e != 0) {
            PollDesc.setWaiterVolatile(pd, write, 0); // No event can have come.
            var _ = Schedt.addNetpollWaiters(s.sched, -1);
            noneWaits(s);
        }
        return e;
    }

    /**
     * The wait is over, for whatever reason. The descriptor is still open, or another file, not pollable, has its number: the
     * JDK closes it only when all that wait have left.
     *
     * @return false when {@link #register} had not registered it
     */
    boolean deregister(GStack st, int fd, boolean write) {
        long pd = existing(fd);
        long word = pd == 0 ? 0 : PollDesc.waiterVolatile(pd, write);
        if (word == 0) {
            return false;
        }
        if (word != PollDesc.READY && PollDesc.casWaiter(pd, write, word, 0)) {
            Scheduler s = st.scheduler();
            int _ = Schedt.addNetpollWaiters(s.sched, -1);
            int _ = Epoll.control(write ? writers : readers, Epoll.DELETE, fd, 0, 0); // ENOENT after a close.
            noneWaits(s);
        } else {
            PollDesc.setWaiterVolatile(pd, write, 0);
        }
        return true;
    }

    private long existing(int fd) {
        long[] t = descs;
        return fd < t.length ? (long) LONGS.getAcquire(t, fd) : 0;
    }

    private long make(int fd) {
        JdkThreads.pin(); // On a goroutine's stack, inside the runtime.
        try {
            synchronized (this) {
                long[] t = descs;
                if (fd >= t.length) {
                    t = java.util.Arrays.copyOf(t, Math.max(64, Integer.highestOneBit(fd) * 2));
                }
                if (t[fd] == 0) {
                    LONGS.setRelease(t, fd, PollDesc.make());
                }
                descs = t;
                return t[fd];
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    @Override
    public PollCache cache() {
        return cache;
    }

    @Override
    public int registerForGood(int fd, long pd) {
        return PollCache.register(readers, fd, pd);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /**
     * Before {@link #registerForGood}.
     *
     * @throws NativeException when there is no epoll instance to be had just now
     */
    void openOrThrow(Scheduler s) {
        if (!open) {
            make(s);
        }
    }

    /**
     * By a goroutine that gets a descriptor of {@code org.gmp4j.net}, as Go has it: so its first wait needs none. Where none can be made
     * now, for want of descriptors or memory, that wait tries again. The caller has made sure that there is room on the stack.
     */
    static void openEarly() {
        GStack current = GStack.current();
        if (current == null || !(current.scheduler().netpoll() instanceof Netpoller n) || n.open) {
            return;
        }
        GStack st = GStack.enterChecked();
        try {
            boolean _ = n.open(current.scheduler());
        } catch (OutOfMemoryError e) {
            return; // The descriptor may be a connection, which would be lost.
        } finally {
            GStack.exit(st);
        }
    }

    private boolean open(Scheduler s) {
        if (failedAt != 0 && System.nanoTime() - failedAt < ASK_AGAIN) {
            return false;
        }
        try {
            make(s);
            return true;
        } catch (NativeException e) {
            failedAt = System.nanoTime() | 1; // The JDK's pollers have theirs, and serve this scheduler too.
            return false;
        }
    }

    private void make(Scheduler s) {
        JdkThreads.pin();
        try {
            synchronized (this) {
                if (!open) {
                    try {
                        create();
                    } catch (NativeException e) { // An OutOfMemoryError goes to the waiter: the next one goes on from there.
                        release();
                        throw e;
                    }
                    open = true;
                    Note.ring(Schedt.pollBreakAddress(s.sched));
                    wake(s);
                }
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Each step wants memory for its call. Without any, the next goroutine that needs an instance goes on where this one stopped. */
    private void create() {
        if (readers < 0) {
            readers = Epoll.create();
        }
        if (writers < 0) {
            writers = Epoll.create();
        }
        if (breaker < 0) {
            breaker = EventFd.create();
        }
        watch(breaker, BREAK);
        watch(writers, WRITERS);
        if (buffers == 0) {
            buffers = Memory.map(2L * EVENTS * Epoll.EVENT_BYTES);
        }
    }

    private void watch(int fd, long data) {
        int e = Epoll.control(readers, Epoll.ADD, fd, Epoll.IN, data);
        if (e != 0 && e != Errno.EEXIST) { // It was added, and memory was short for a later step.
            throw new NativeException("epoll_ctl", e);
        }
    }

    /** Gives back what there is. Where memory is short for that it may be called again, and goes on. */
    private void release() {
        breaker = closed(breaker);
        writers = closed(writers);
        readers = closed(readers);
        if (buffers != 0) {
            Memory.unmap(buffers, 2L * EVENTS * Epoll.EVENT_BYTES);
            buffers = 0;
        }
    }

    private static int closed(int fd) {
        if (fd >= 0) {
            Fd.close(fd);
        }
        return -1;
    }

    /** Does all that a first wait does, on a thread that has the time, so that no goroutine waits while classes are loaded. */
    static void rehearse() {
        Netpoller n = new Netpoller();
        long pd = PollDesc.make();
        try {
            n.create();
            n.rehearseOnce(pd);
        } finally {
            PollDesc.recycle(pd);
            n.release();
        }
    }

    private void rehearseOnce(long pd) {
        int tag = PollDesc.nextTag(pd, false);
        PollDesc.setWaiterVolatile(pd, false, PollDesc.word(0, tag));
        boolean _ = PollDesc.casWaiter(pd, false, PollDesc.word(0, tag), 0);
        int added = EventFd.add(breaker, 1);
        int found = await(readers, buffers, EVENTS, 1);
        boolean isBreaker = Epoll.dataAt(buffers, 0) == BREAK && Epoll.eventsAt(buffers, 0) == Epoll.IN;
        long taken = EventFd.take(breaker);
        int e = Epoll.control(readers, Epoll.MODIFY, breaker, Epoll.IN, BREAK);
        if (added != 0 || found != 1 || !isBreaker || taken != 1 || e != 0) {
            throw new IllegalStateException("an event was not reported");
        }
    }

    @Override
    public void close(Scheduler s) {
        GStack caller = GStack.enterChecked(); // The caller may be a goroutine of another scheduler.
        try {
            closed = true;
            release(); // Also what was made before memory ran out.
            cache.close();
            long[] all = descs;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0) {
                    PollDesc.recycle(all[i]);
                    all[i] = 0; // Close may be called again.
                }
            }
        } finally {
            GStack.exit(caller);
        }
    }
}
