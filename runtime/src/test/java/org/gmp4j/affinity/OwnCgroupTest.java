// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link OwnCgroup}, on files like the kernel's. */
class OwnCgroupTest {
    private static final long PID = 42;

    @TempDir
    Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private boolean isOwn() {
        return OwnCgroup.isOwn(new SysFiles(root), PID);
    }

    @Test
    void aContainer() throws IOException {
        file("proc/self/cgroup", "0::/\n");
        file("sys/fs/cgroup/cgroup.procs", "42\n");
        assertFalse(isOwn(), "the root of all has no share of its own");
        file("sys/fs/cgroup/cpu.weight", "100\n");
        assertTrue(isOwn());
        file("sys/fs/cgroup/cgroup.procs", "1\n42\n");
        assertFalse(isOwn(), "another process has the same share");
    }

    @Test
    void aUnit() throws IOException {
        file("proc/self/cgroup", "1:name=systemd:/x\n0::/system.slice/a.service\n");
        file("sys/fs/cgroup/system.slice/a.service/cgroup.procs", "42\n");
        file("sys/fs/cgroup/system.slice/a.service/cpu.weight", "100\n");
        assertTrue(isOwn());
    }

    @Test
    void nothingToRead() throws IOException {
        assertFalse(isOwn());
        file("proc/self/cgroup", "4:cpu,cpuacct:/a\n");
        assertFalse(isOwn());
    }
}
