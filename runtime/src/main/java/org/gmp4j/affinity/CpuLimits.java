// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The CPU bandwidth limits that hold for this process: {@code cpu.max} of cgroup v2 and {@code cpu.cfs_quota_us} of v1,
 * in the process's own cgroup and in each one above it. The kernel enforces all of them, so the smallest counts,
 * wherever it sits; a machine with both versions mounted is asked for both.
 *
 * <p>Which directory is ours comes from two files: /proc/self/cgroup has the path within the hierarchy,
 * /proc/self/mountinfo which part of the hierarchy is mounted where. A container may see only a part, or a path
 * that means nothing in its own mounts; then the mount point itself is the best that can be known.
 */
final class CpuLimits {
    /** One cgroup file system: {@code root} is the directory of the hierarchy that shows at {@code point}. */
    private record Mount(boolean v2, String root, String point) {}

    private final SysFiles files;
    private final Map<Path, Topology.CpuLimit> found = new LinkedHashMap<>();

    private CpuLimits(SysFiles files) {
        this.files = files;
    }

    /** The limits, from the process's own cgroup upwards; empty when there are none. */
    static List<Topology.CpuLimit> read(SysFiles files) {
        CpuLimits limits = new CpuLimits(files);
        List<Mount> mounts = mounts(files);
        for (String line : SysFiles.lines(files.at("/proc/self/cgroup"))) {
            String[] parts = line.split(":", 3); // hierarchy-ID:controllers:path
            if (parts.length < 3) {
                continue;
            }
            boolean v2 = parts[0].equals("0") && parts[1].isEmpty();
            if (v2 || has(parts[1], "cpu")) {
                List<Mount> same = new ArrayList<>();
                for (Mount m : mounts) {
                    if (m.v2 == v2) {
                        same.add(m);
                    }
                }
                limits.walk(same, parts[2]);
            }
        }
        return List.copyOf(limits.found.values());
    }

    private static List<Mount> mounts(SysFiles files) {
        List<Mount> mounts = new ArrayList<>();
        for (String line : SysFiles.lines(files.at("/proc/self/mountinfo"))) {
            // id parent major:minor root mount-point options [optional fields] - type source super-options
            int dash = line.indexOf(" - ");
            if (dash < 0) {
                continue;
            }
            String[] before = line.substring(0, dash).split(" ");
            String[] after = line.substring(dash + 3).split(" ");
            if (before.length < 5 || after.length < 1) {
                continue;
            }
            boolean v2 = after[0].equals("cgroup2");
            boolean v1 = after[0].equals("cgroup") && has(after[after.length - 1], "cpu");
            if (v2 || v1) {
                mounts.add(new Mount(v2, unescape(before[3]), unescape(before[4])));
            }
        }
        return mounts;
    }

    private void walk(List<Mount> mounts, String path) {
        List<Mount> ours = new ArrayList<>();
        for (Mount m : mounts) {
            if (below(m.root, path) != null) {
                ours.add(m);
            }
        }
        for (Mount mount : ours) {
            walk(mount, below(mount.root, path));
        }
        if (ours.isEmpty() && !mounts.isEmpty()) {
            walk(mounts.getFirst(), "");
        }
    }

    private void walk(Mount mount, String below) {
        Path top = files.at(mount.point).normalize();
        Path dir = files.at(mount.point + "/" + below).normalize();
        for (; dir != null && dir.startsWith(top); dir = dir.getParent()) {
            Topology.CpuLimit limit = mount.v2 ? v2(dir) : v1(dir);
            if (limit != null) {
                found.putIfAbsent(dir, limit);
            }
        }
    }

    /** {@code path} as seen from {@code root}, or null when it does not lie below it. */
    private static String below(String root, String path) {
        if (Arrays.asList(path.split("/")).contains("..")) {
            return null; // outside our cgroup namespace
        }
        if (root.equals("/") || root.equals(path)) {
            return root.equals("/") ? path : "";
        }
        return path.startsWith(root + "/") ? path.substring(root.length()) : null;
    }

    /** {@code cpu.max}: "max 100000" or "150000 100000"; the period may be left out. */
    private Topology.CpuLimit v2(Path dir) {
        String text = SysFiles.text(dir.resolve("cpu.max"));
        if (text == null) {
            return null;
        }
        String[] parts = text.split("\\s+");
        return limit(dir, parts[0], parts.length > 1 ? parts[1] : "100000");
    }

    private Topology.CpuLimit v1(Path dir) {
        String quota = SysFiles.text(dir.resolve("cpu.cfs_quota_us"));
        return limit(dir, quota, SysFiles.text(dir.resolve("cpu.cfs_period_us")));
    }

    /** Null for no limit: "max", -1, or a file that is not there. */
    private Topology.CpuLimit limit(Path dir, String quota, String period) {
        try {
            long q = quota == null ? -1 : Long.parseLong(quota);
            long p = period == null ? -1 : Long.parseLong(period);
            return q > 0 && p > 0 ? new Topology.CpuLimit("/" + files.root().relativize(dir), q, p) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static boolean has(String commaSeparated, String word) {
        return Arrays.asList(commaSeparated.split(",")).contains(word);
    }

    /** mountinfo writes space, tab, newline and backslash as three octal digits. */
    private static String unescape(String text) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 4 <= text.length() && text.substring(i + 1, i + 4).matches("[0-3][0-7]{2}")) {
                c = (char) Integer.parseInt(text.substring(i + 1, i + 4), 8);
                i += 3;
            }
            plain.append(c);
        }
        return plain.toString();
    }
}
