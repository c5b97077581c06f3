// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.Page;

/**
 * A machine as SVG: packages, in them nodes, in them caches, in them cores, a column of CPUs each, with the P that the first policy pins
 * there. It has a size of its own, at which its letters can be read, and is no wider than a page.
 */
final class TopoPicture {
    private static final int CELL_WIDTH = 34;
    private static final int CELL_HEIGHT = 30;
    private static final int PAD = 6;
    private static final int TITLE = 16;
    private static final double LETTER = 6.6;
    private static final int CORES_WIDTH = 8 * (CELL_WIDTH + PAD);
    /** Widths of rows: of caches, of nodes with these in them, of packages. */
    private static final int CACHES_WIDTH = 1160;
    private static final int NODES_WIDTH = 1200;
    private static final int PACKAGES_WIDTH = 1230;

    private static final String STYLE = """
            svg { font: 11px system-ui, sans-serif; background: #fcfcfb; }
            text { fill: #1b1b1a; } .m { text-anchor: middle; } .p { text-anchor: middle; font-size: 10px; font-weight: 700; }
            rect { fill: none; stroke: #8c8b85; rx: 3px; }
            rect.package { stroke: #1b1b1a; } rect.node { stroke: #2a78d6; } rect.cache { stroke: #128a5e; } rect.core { stroke: none; }
            rect.cpu { fill: #86b6ea; stroke: none; } rect.isolated { fill: #e8b04a; stroke: none; }
            rect.refused { fill: #d8d7d2; stroke: none; } rect.slow { fill: #c4dcf4; stroke: none; }
            """;

    private final TopoReport report;
    private final Map<Integer, String> ps = new TreeMap<>();
    private String policy = "";

    private record Box(int width, int height, String svg) {
    }

    TopoPicture(TopoReport report) {
        this.report = report;
        report.pinning().ifPresent(a -> {
            policy = a.toString();
            List<BitSet> places = report.pinned(a);
            for (int p = 0; p < places.size(); p++) {
                ps.merge(places.get(p).nextSetBit(0), "P" + p, (before, now) -> before.replaceAll("…$", "") + "…");
            }
        });
    }

    /** Returns the picture, as a file of its own. */
    String svg() {
        List<Box> packages = new ArrayList<>();
        TopoReport.by(report.whole.cpus(), Topology.Cpu::socket).forEach((socket, inPackage) -> {
            List<Box> nodes = new ArrayList<>();
            TopoReport.by(inPackage, Topology.Cpu::node).forEach((node, inNode) -> {
                List<Box> caches = new ArrayList<>();
                TopoReport.by(inNode, Topology.Cpu::cacheGroup).values().forEach(c -> caches.add(cache(c)));
                nodes.add(box("node", "node " + node + TopoReport.size(report.topology.memory(node)), caches, CACHES_WIDTH));
            });
            packages.add(box("package", "package " + socket, nodes, NODES_WIDTH));
        });
        String legend = "CPUs: blue usable" + (report.topology.kinds().isEmpty() ? "" : " (pale: slower)") + ", amber isolated,"
                + " grey not usable" + (ps.isEmpty() ? "" : "; Ps by " + policy);
        Box all = box("core", legend, packages, PACKAGES_WIDTH);
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + all.width + "\" height=\"" + all.height + "\" viewBox=\"0 0 "
                + all.width + " " + all.height + "\" role=\"img\">\n"
                + "<title>" + Page.escape(report.topology.toString()) + "</title>\n<style>\n" + STYLE + "</style>\n" + all.svg + "</svg>\n";
    }

    private Box cache(List<Topology.Cpu> cpus) {
        List<Box> cores = new ArrayList<>();
        for (List<Topology.Cpu> core : TopoReport.by(cpus, Topology.Cpu::coreGroup).values()) {
            StringBuilder cells = new StringBuilder();
            for (int i = 0; i < core.size(); i++) {
                int id = core.get(i).id();
                add(cells, "<rect class=\"%s\" x=\"1\" y=\"%d\" width=\"%d\" height=\"%d\"/>", style(id), i * CELL_HEIGHT + 1,
                        CELL_WIDTH - 2, CELL_HEIGHT - 2);
                add(cells, "<text class=\"m\" x=\"%d\" y=\"%d\">%d</text>\n", CELL_WIDTH / 2, i * CELL_HEIGHT + 13, id);
                if (ps.containsKey(id)) {
                    add(cells, "<text class=\"p\" x=\"%d\" y=\"%d\">%s</text>\n", CELL_WIDTH / 2, i * CELL_HEIGHT + 25, ps.get(id));
                }
            }
            cores.add(new Box(CELL_WIDTH, core.size() * CELL_HEIGHT, cells.toString()));
        }
        return box("cache", TopoReport.lastCache(cpus.getFirst()).map(TopoReport::cacheName).orElse(""), cores, CORES_WIDTH);
    }

    private String style(int cpu) {
        if (!report.topology.allowed().get(cpu)) {
            return "refused";
        }
        if (report.topology.isolated().get(cpu)) {
            return "isolated";
        }
        int kind = 0;
        for (Map.Entry<String, BitSet> e : report.topology.kinds().entrySet()) {
            if (e.getValue().get(cpu)) {
                return kind == 0 ? "cpu" : "slow";
            }
            kind++;
        }
        return "cpu";
    }

    /** Boxes in rows that are not wider than {@code most}, with a frame and a title. */
    private static Box box(String style, String title, List<Box> inside, int most) {
        StringBuilder svg = new StringBuilder();
        int top = title.isEmpty() ? PAD : TITLE + PAD;
        int width = (int) Math.ceil(title.length() * LETTER);
        int x = PAD;
        int y = top;
        int height = 0;
        for (Box b : inside) {
            if (x > PAD && x + b.width > most) {
                x = PAD;
                y += height + PAD;
                height = 0;
            }
            add(svg, "<g transform=\"translate(%d,%d)\">\n%s</g>\n", x, y, b.svg);
            x += b.width + PAD;
            height = Math.max(height, b.height);
            width = Math.max(width, x - PAD);
        }
        y += height + PAD;
        width += PAD;
        String frame = String.format(Locale.ROOT, "<rect class=\"%s\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\"/>%n", style,
                width - 1, y - 1);
        String text = title.isEmpty() ? ""
                : String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\">%s</text>%n", PAD, TITLE - 1, Page.escape(title));
        return new Box(width, y, frame + text + svg);
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
