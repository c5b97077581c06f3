package org.gmp4j.proc;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

import org.gmp4j.ffi.OsThread;

/**
 * HotSpot's VM thread, which carries out each {@link org.gmp4j.agent.Points#nudge}. Where the goroutine that is to be nudged has
 * the only CPU it would wait for the goroutine's kernel slice to end: seen were 3 to 5 ms, longer than what was to be
 * preempted. So it gets short slices, as sysmon has. GC threads that it starts inherit them, which changes no one's share.
 */
final class VmThread {
    private static final String NAME = "VM Thread";
    /** Guarded by the class: several schedulers' sysmons come here. */
    private static boolean done;

    private VmThread() {
    }

    /** Once a process. What fails is left as it is: nudges come later then. */
    static synchronized void hurry(long sliceNanos) {
        if (!done) {
            done = true;
            boolean unused = setSlice(sliceNanos);
        }
    }

    static boolean setSlice(long nanos) {
        int tid = tid();
        return tid != 0 && OsThread.setSlice(tid, nanos);
    }

    /** 0 when it is not found. */
    static int tid() {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                if (name(task).equals(NAME)) {
                    return Integer.parseInt(task.getFileName().toString());
                }
            }
        } catch (IOException e) {
            return 0;
        }
        return 0;
    }

    private static String name(Path task) {
        try {
            return Files.readString(task.resolve("comm")).strip();
        } catch (IOException e) {
            return ""; // It has ended.
        }
    }
}
