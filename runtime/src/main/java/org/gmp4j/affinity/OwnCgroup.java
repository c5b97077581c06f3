// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.nio.file.Path;
import java.util.List;

/**
 * Checks whether this process is alone in a cgroup that has a CPU share of its own. If it is alone, the nice values of its threads only
 * divide that share among these threads, and do not affect other processes.
 */
public final class OwnCgroup {
    private static final String V2 = "0::";

    private OwnCgroup() {
    }

    /** Returns whether this process is alone in such a cgroup; false when {@code /proc} or {@code /sys} cannot be read. */
    public static boolean isOwn() {
        return isOwn(new SysFiles(Path.of("/")), ProcessHandle.current().pid());
    }

    /**
     * Returns whether the cgroup (version 2) of this process has a CPU share, and contains no other process.
     *
     * @param pid the id of this process in {@code cgroup.procs}
     */
    static boolean isOwn(SysFiles files, long pid) {
        for (String line : SysFiles.lines(files.at("/proc/self/cgroup"))) {
            if (line.startsWith(V2)) {
                Path cgroup = files.at("/sys/fs/cgroup" + line.substring(V2.length()));
                return SysFiles.text(cgroup.resolve("cpu.weight")) != null
                        && List.of(Long.toString(pid)).equals(SysFiles.lines(cgroup.resolve("cgroup.procs")));
            }
        }
        return false;
    }
}
