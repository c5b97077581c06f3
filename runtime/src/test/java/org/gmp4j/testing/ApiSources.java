// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;

/** What the exported packages show, from their sources: with comments, which classes do not have. */
public final class ApiSources {
    private static final Path SOURCES = Path.of("src/main/java");

    /**
     * A public class, method, constructor or field.
     *
     * @param owner its class, with dots and {@code $}
     * @param name its name; of a class the simple one, of a constructor {@code <init>}
     * @param types of parameters, as written; null for what has none, a class or a field
     * @param comment without stars; null for none
     * @param overrides whether it says {@code @Override}
     * @param returns what it returns, as written; null for what returns nothing
     */
    public record Member(String owner, String name, List<String> types, String comment, boolean overrides, String returns) {
        /** Whether it is a method. */
        public boolean isMethod() {
            return types != null && !name.equals("<init>");
        }

        /** Class and name, for messages and lists. */
        public String id() {
            return owner.substring(owner.lastIndexOf('.') + 1).replace('$', '.') + (types == null ? name.isEmpty() ? "" : "." + name
                    : "#" + name + types.stream().map(t -> t.replaceAll("<.*>|@Nullable ", "")).toList().toString()
                            .replace('[', '(').replace(']', ')'));
        }
    }

    private ApiSources() {
    }

    /** The directories of the packages that the module exports to all. */
    public static List<Path> packages() throws IOException {
        List<Path> all = new ArrayList<>();
        Matcher m = Pattern.compile("^ *exports ([\\w.]+);", Pattern.MULTILINE)
                .matcher(Files.readString(SOURCES.resolve("module-info.java")));
        while (m.find()) {
            all.add(SOURCES.resolve(m.group(1).replace('.', '/')));
        }
        return all;
    }

    /** All that is public in them. */
    public static List<Member> members() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path p : packages()) {
            try (Stream<Path> all = Files.list(p)) {
                files.addAll(all.filter(f -> f.toString().endsWith(".java") && !f.endsWith("package-info.java")).toList());
            }
        }
        List<Member> members = new ArrayList<>();
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = javac.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) javac.getTask(null, manager, null, List.of("-proc:none"), null,
                    manager.getJavaFileObjectsFromPaths(files));
            DocTrees docs = DocTrees.instance(task);
            for (CompilationUnitTree unit : task.parse()) {
                Object _ = new Scanner(docs, unit.getPackageName().toString(), members).scan(unit, null);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return members;
    }

    private static final class Scanner extends TreePathScanner<Object, Object> {
        private final DocTrees docs;
        private final String pack;
        private final List<Member> members;
        private final Deque<ClassTree> classes = new ArrayDeque<>();

        Scanner(DocTrees docs, String pack, List<Member> members) {
            this.docs = docs;
            this.pack = pack;
            this.members = members;
        }

        private boolean inInterface() {
            return !classes.isEmpty()
                    && (classes.peek().getKind() == Tree.Kind.INTERFACE || classes.peek().getKind() == Tree.Kind.ANNOTATION_TYPE);
        }

        private boolean shown(Set<Modifier> flags) {
            return flags.contains(Modifier.PUBLIC) || inInterface() && !flags.contains(Modifier.PRIVATE);
        }

        private String owner() {
            List<String> names = new ArrayList<>();
            classes.descendingIterator().forEachRemaining(c -> names.add(c.getSimpleName().toString()));
            return pack + "." + String.join("$", names);
        }

        @Override
        public Object visitClass(ClassTree c, Object unused) {
            if (shown(c.getModifiers().getFlags())) {
                classes.push(c);
                members.add(new Member(owner(), "", null, docs.getDocComment(getCurrentPath()), false, null));
                Object _ = super.visitClass(c, unused);
                ClassTree _ = classes.pop();
            }
            return null;
        }

        @Override
        public Object visitMethod(MethodTree m, Object unused) {
            boolean generated = docs.getSourcePositions().getEndPosition(getCurrentPath().getCompilationUnit(), m) < 0;
            if (shown(m.getModifiers().getFlags()) && !generated) {
                List<String> types = m.getParameters().stream().map(p -> (p.getModifiers().toString() + p.getType()).strip()).toList();
                boolean overrides = m.getModifiers().getAnnotations().stream().anyMatch(a -> a.toString().contains("Override"));
                members.add(new Member(owner(), m.getName().toString(), types, docs.getDocComment(getCurrentPath()), overrides,
                        m.getReturnType() == null ? null : m.getModifiers().getAnnotations() + " " + m.getReturnType()));
            }
            return null;
        }

        @Override
        public Object visitVariable(VariableTree v, Object unused) {
            if (shown(v.getModifiers().getFlags())) {
                members.add(new Member(owner(), v.getName().toString(), null, docs.getDocComment(getCurrentPath()), false, null));
            }
            return null;
        }
    }
}
