/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes that threads and processes inherit from the thread that creates them: the CPUs on which it may run, its scheduling
 * policy and nice value, its signal mask, its timer slack. An M must not inherit them from the thread that happens to start it. And a
 * thread or process that a goroutine starts must not inherit the attributes that the runtime has set on the M.
 *
 * Inheritance by Ms. Each new thread of the runtime first calls gmp_thread_begin, which sets the process's attributes. These are the
 * attributes of HotSpot's VM thread: it was made with the JVM, runs no user code, and cpusets and `taskset -ap` apply to it as to any
 * other thread. (The main thread is less suitable, because a program that embeds a JVM may have pinned it.) If the kernel refuses an
 * attribute, such as a higher priority without the permission, the inherited one stays.
 *
 * Inheritance from Ms. Java code creates threads by java.lang.Thread.start0, and processes by java.lang.ProcessImpl.forkAndExec. When
 * the JVM loads this library, both are bound to functions of ours that call the JDK's. On a thread that has called gmp_thread_begin
 * after gmp_thread_hook, they remove the attributes that the runtime has set while the JDK's function runs, and then set them again.
 * On any other thread they only call the JDK's function. Attributes that a locked goroutine has set on its thread itself stay, and are
 * inherited as from any thread.
 *
 * Rejected: a flag of the kernel, because SCHED_RESET_ON_FORK is for policies alone; the JVM, because it sets no affinity of new
 * threads; and to set the attributes of a new thread after its start, because it has executed code by then, and because that is too
 * late for a process.
 *
 * There may be several copies of this library in one process, one for each class loader. The first copy has the variables of each
 * thread, so that the bound functions serve the threads of all copies, whichever copy they are in.
 */
#define _GNU_SOURCE
#include "copies.h"
#include "gmp_shims.h"

#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CPU_BYTES = 1024, /* 8,192 CPUs, the most that Linux is built for. */
    MASK_BYTES = 8,   /* the size of the kernel's signal sets */
    USUAL_SLACK = 50000
};

#define BIT(signo) (1ULL << ((signo) - 1))
/* The signals by which glibc cancels threads and changes their user ids. glibc would hang if they were blocked. */
#define LIBC_SIGNALS (BIT(32) | BIT(33))

typedef struct {
    unsigned char bits[CPU_BYTES];
} cpus_t;

/* The struct of sched_getattr(2) in its first version, without the fields that later kernels added. */
typedef struct {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;
    uint64_t deadline;
    uint64_t period;
} attr_t;

/* BEGUN: the thread has called gmp_thread_begin. HOOKED: besides, threads that it creates do not inherit its attributes. */
enum { BEGUN = 1, HOOKED = 2 };

/* A nice value is from -20 to 19. gmp_nice returns less than that, by this number, for an error. */
enum { NO_NICE = 100 };

/* The attributes that the runtime has set on a thread. Only that thread reads and writes them. */
struct own {
    int32_t begun;  /* BEGUN or HOOKED in a thread of the runtime, else 0 */
    int32_t slack;  /* the timer slack, ns */
    uint64_t placed; /* a hash of the CPUs that gmp_thread_place has set; 0 for none */
    uint64_t opened; /* the preemption signal's bit, if the process has it blocked; else 0 */
};

static __thread struct own own_here __attribute__((tls_model("initial-exec")));

/* Variables of the process. They are written once, by prepare unless another function is named. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t reference;    /* the thread that has the process's attributes */
static uint64_t blocked;   /* the reference's signal mask */
static bool blocked_known;
static bool hooked; /* written by gmp_thread_hook, before there is a thread of the runtime */
static int32_t plain_slack = USUAL_SLACK;
static uint64_t usual_slice; /* the reference's time slices, before gmp_vm_slice shortened them */
static struct own *(*own_there)(void); /* the first copy's gmp_thread_own; NULL when this is the first */

void *gmp_thread_own(void)
{
    return &own_here;
}

static struct own *own(void)
{
    return own_there != NULL ? own_there() : &own_here;
}

/*
 * Copies the first line of a file that begins with key, without the key. Returns false when there is none. Lines may be long, such as
 * that with the groups.
 */
static bool read_line(const char *path, const char *key, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    if (f == NULL) {
        return false;
    }
    while (!found && getline(&line, &room, f) > 0) {
        found = strncmp(line, key, strlen(key)) == 0;
    }
    if (found) {
        snprintf(buf, size, "%s", line + strlen(key));
    }
    free(line);
    fclose(f);
    return found;
}

/* Returns whether /proc shows this process's PID namespace. In another namespace the same threads have other ids. */
static bool proc_is_ours(void)
{
    char self[16];
    ssize_t n = readlink("/proc/self", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = '\0';
    return atoi(self) == getpid();
}

/*
 * Stores the ids of threads of this process whose names begin with one of n names, or of all threads if n is 0; most of them at most.
 * Returns their number, or -errno.
 */
static int32_t find_threads(const char *const *names, int32_t n, int32_t *tids, int32_t most)
{
    int32_t found = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) {
        return -errno;
    }
    for (const struct dirent *e = readdir(tasks); e != NULL && found < most; e = readdir(tasks)) {
        char path[64];
        char comm[32];
        int tid = atoi(e->d_name);
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
        if (tid > 0 && n == 0) {
            tids[found++] = tid;
        }
        if (tid <= 0 || n == 0 || !read_line(path, "", comm, sizeof comm)) {
            continue;
        }
        for (int32_t i = 0; i < n; i++) {
            if (strncmp(comm, names[i], strlen(names[i])) == 0) {
                tids[found++] = tid;
                break;
            }
        }
    }
    closedir(tasks);
    return found;
}

static pid_t find_reference(void)
{
    static const char *const vm_thread[] = {"VM Thread\n"};
    int32_t found = 0;
    return proc_is_ours() && find_threads(vm_thread, 1, &found, 1) == 1 ? found : getpid();
}

int32_t gmp_compiler_threads(uint64_t tids, int32_t most, int32_t optimizing)
{
    /*
     * The kernel keeps 15 bytes of a name such as "C2 CompilerThread0". JDK 25 passes the first 15 bytes, later versions pass "C2
     * Comp..hread0". A shorter prefix would also match threads of users, such as "C1 Compactor".
     */
    static const char *const compilers[] = {"C2 CompilerThre", "C2 Comp..", "JVMCI CompilerT", "JVMCI C..", "C1 CompilerThre", "C1 Comp.."};
    return proc_is_ours() ? find_threads(compilers, optimizing != 0 ? 4 : 6, (int32_t *)(uintptr_t)tids, most) : -ENOENT;
}

int32_t gmp_threads(uint64_t tids, int32_t most)
{
    return proc_is_ours() ? find_threads(NULL, 0, (int32_t *)(uintptr_t)tids, most) : -ENOENT;
}

static bool read_schedstat(int32_t tid, int64_t *ran, int64_t *waited)
{
    char path[64];
    char line[96];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)tid);
    return read_line(path, "", line, sizeof line) && sscanf(line, "%" SCNd64 " %" SCNd64, ran, waited) == 2;
}

int64_t gmp_thread_waited(int32_t tid)
{
    int64_t ran;
    int64_t waited;
    return read_schedstat(tid, &ran, &waited) ? waited : -ESRCH;
}

int64_t gmp_thread_wanted(int32_t tid)
{
    int64_t ran;
    int64_t waited;
    return read_schedstat(tid, &ran, &waited) ? ran + waited : -ESRCH;
}

int64_t gmp_process_cpu(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : -errno;
}

int32_t gmp_nice(int32_t tid)
{
    errno = 0;
    int32_t nice = getpriority(PRIO_PROCESS, (id_t)tid);
    return errno == 0 ? nice : -errno - NO_NICE;
}

int32_t gmp_set_nice(int32_t tid, int32_t nice)
{
    return setpriority(PRIO_PROCESS, (id_t)tid, nice) == 0 ? 0 : -errno;
}

static bool get_attr(pid_t tid, attr_t *attr)
{
    memset(attr, 0, sizeof *attr);
    return syscall(SYS_sched_getattr, tid, attr, sizeof *attr, 0) == 0;
}

static void prepare(void)
{
    char path[64];
    char mask[32];
    attr_t attr;
    reference = find_reference();
    uint64_t (*slice_there)(void) = (uint64_t (*)(void))gmp_first_copy("gmp_thread_slice", (void *)gmp_thread_slice);
    usual_slice = slice_there != NULL ? slice_there() : get_attr(reference, &attr) ? attr.runtime : 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)reference);
    blocked_known = read_line(path, "SigBlk:", mask, sizeof mask) && sscanf(mask, "%" SCNx64, &blocked) == 1;
    own_there = (struct own *(*)(void))gmp_first_copy("gmp_thread_own", (void *)gmp_thread_own);
    if (!own()->begun) {
        int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
        plain_slack = slack > 0 ? slack : USUAL_SLACK;
    }
}

static bool get_cpus(pid_t tid, cpus_t *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    return syscall(SYS_sched_getaffinity, tid, sizeof *cpus, cpus) > 0;
}

static bool set_cpus(const cpus_t *cpus)
{
    return syscall(SYS_sched_setaffinity, 0, sizeof *cpus, cpus) == 0;
}

static bool same_cpus(const cpus_t *a, const cpus_t *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/*
 * Gives the calling thread the process's CPUs. If these are all CPUs of the cpuset, it requests all CPUs of the machine. Then
 * it also gets CPUs that are added to the cpuset later, like a thread that was never pinned.
 */
static void set_plain_cpus(const cpus_t *plain)
{
    cpus_t all;
    cpus_t got;
    memset(&all, 0xff, sizeof all);
    if (!set_cpus(&all) || !get_cpus(0, &got) || !same_cpus(&got, plain)) {
        set_cpus(plain);
    }
}

static uint64_t hash(const cpus_t *cpus)
{
    uint64_t h = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < sizeof cpus->bits; i++) {
        h = (h ^ cpus->bits[i]) * 0x100000001b3ULL;
    }
    return h | 1;
}

/* Gets the process's scheduling attributes. Returns false when the kernel does not tell them. */
static bool get_plain_attr(attr_t *attr)
{
    bool got = get_attr(reference, attr);
    if (got && (attr->policy == SCHED_OTHER || attr->policy == SCHED_BATCH || attr->policy == SCHED_IDLE)) {
        attr->runtime = usual_slice; /* With these policies the field is the time slice. */
    }
    return got;
}

static bool same_attr(const attr_t *a, const attr_t *b)
{
    return a->policy == b->policy && a->flags == b->flags && a->nice == b->nice && a->priority == b->priority
            && a->runtime == b->runtime && a->deadline == b->deadline && a->period == b->period;
}

static uint64_t signal_mask(int how, const uint64_t *set)
{
    uint64_t old = 0;
    syscall(SYS_rt_sigprocmask, how, set, &old, (size_t)MASK_BYTES);
    return old;
}

int32_t gmp_thread_begin(int32_t signo, int32_t slack_ns)
{
    cpus_t cpus;
    cpus_t plain;
    attr_t attr;
    attr_t plain_attr;
    int32_t refused = 0;

    pthread_once(&once, prepare);
    struct own *o = own();
    memset(o, 0, sizeof *o);
    o->begun = hooked ? HOOKED : BEGUN;
    o->slack = slack_ns > 0 ? slack_ns : plain_slack;
    prctl(PR_SET_TIMERSLACK, (unsigned long)o->slack, 0, 0, 0);
    if (get_plain_attr(&plain_attr) && get_attr(0, &attr) && !same_attr(&attr, &plain_attr)
        && syscall(SYS_sched_setattr, 0, &plain_attr, 0) != 0) {
        refused = -errno;
    }
    if (get_cpus(reference, &plain) && get_cpus(0, &cpus) && !same_cpus(&cpus, &plain)) {
        set_plain_cpus(&plain);
    }
    uint64_t mask = signal_mask(SIG_BLOCK, NULL);
    if (blocked_known) {
        mask = blocked | (mask & BIT(SIGQUIT)); /* HotSpot unblocks this signal on its VM thread alone. */
    }
    if (signo > 0) {
        o->opened = mask & BIT(signo);
        mask &= ~BIT(signo);
    }
    mask &= ~LIBC_SIGNALS;
    signal_mask(SIG_SETMASK, &mask);
    return refused;
}

int32_t gmp_thread_plain(void)
{
    cpus_t cpus;
    cpus_t plain;
    attr_t attr;
    attr_t plain_attr;

    pthread_once(&once, prepare);
    if (get_cpus(reference, &plain) && get_cpus(0, &cpus) && !same_cpus(&cpus, &plain)) {
        return 0;
    }
    return !get_plain_attr(&plain_attr) || !get_attr(0, &attr) || same_attr(&attr, &plain_attr);
}

uint64_t gmp_thread_slice(void)
{
    pthread_once(&once, prepare);
    return usual_slice;
}

int32_t gmp_vm_slice(uint64_t nanos)
{
    pthread_once(&once, prepare); /* It stores the usual slices before they change. */
    return reference == getpid() ? -ESRCH : gmp_sched_slice(reference, nanos != 0 ? nanos : usual_slice);
}

int32_t gmp_thread_place(uint64_t mask, uint64_t bytes)
{
    cpus_t got;
    if (syscall(SYS_sched_setaffinity, 0, bytes, (void *)(uintptr_t)mask) != 0) {
        return -errno;
    }
    own()->placed = get_cpus(0, &got) ? hash(&got) : 0;
    return 0;
}

/* The attributes that were removed from a thread while the JDK's function runs. */
struct taken_off {
    bool placed;
    bool opened;
    bool slack;
    cpus_t cpus;
};

static void take_off(const struct own *o, struct taken_off *t)
{
    cpus_t plain;
    t->placed = o->placed != 0 && get_cpus(0, &t->cpus) && hash(&t->cpus) == o->placed && get_cpus(reference, &plain);
    if (t->placed) {
        set_plain_cpus(&plain);
    }
    t->opened = o->opened != 0 && (signal_mask(SIG_BLOCK, &o->opened) & o->opened) == 0;
    t->slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == o->slack;
    if (t->slack) {
        prctl(PR_SET_TIMERSLACK, (unsigned long)plain_slack, 0, 0, 0);
    }
}

static void put_on(const struct own *o, const struct taken_off *t)
{
    if (t->slack) {
        prctl(PR_SET_TIMERSLACK, (unsigned long)o->slack, 0, 0, 0);
    }
    if (t->opened) {
        signal_mask(SIG_UNBLOCK, &o->opened);
    }
    if (t->placed && !set_cpus(&t->cpus)) {
        /* The process may no longer use these CPUs. The thread keeps the process's CPUs. */
    }
}

/* The functions of JNI that are called here, by their indices in the tables of the specification. */
typedef void *const *const *jni_t;
enum { GET_ENV = 6, FIND_CLASS = 6, EXCEPTION_CLEAR = 17, GET_STATIC_METHOD_ID = 113,
       CALL_STATIC_OBJECT_METHOD_A = 116, NEW_STRING_UTF = 167, REGISTER_NATIVES = 215, EXCEPTION_CHECK = 228 };
enum { JNI_VERSION = 0x00010008 };

typedef struct {
    const char *name;
    const char *signature;
    void *function;
} native_t;

typedef union {
    void *l; /* NULL is false as well */
    int64_t j;
} value_t;

typedef void (*start_fn)(void *env, void *thread);
typedef int32_t (*fork_fn)(void *env, void *process, int32_t mode, void *helper, void *prog, void *args, int32_t argc,
                           void *vars, int32_t varc, void *dir, void *fds, uint8_t redirect);

#define FORK_SIGNATURE "(I[B[B[BI[BI[B[IZ)I"

static start_fn jdk_start;
static fork_fn jdk_fork;

static void start0(void *env, void *thread)
{
    struct taken_off t;
    const struct own *o = own();
    if (o->begun != HOOKED) {
        jdk_start(env, thread);
        return;
    }
    take_off(o, &t);
    jdk_start(env, thread); /* When it returns, the new thread exists and has inherited its attributes. */
    put_on(o, &t);
}

static int32_t fork_and_exec(void *env, void *process, int32_t mode, void *helper, void *prog, void *args, int32_t argc,
                             void *vars, int32_t varc, void *dir, void *fds, uint8_t redirect)
{
    struct taken_off t;
    const struct own *o = own();
    if (o->begun != HOOKED) {
        return jdk_fork(env, process, mode, helper, prog, args, argc, vars, varc, dir, fds, redirect);
    }
    take_off(o, &t);
    int32_t r = jdk_fork(env, process, mode, helper, prog, args, argc, vars, varc, dir, fds, redirect);
    put_on(o, &t);
    return r;
}

static void *function_of(const char *library, const char *name)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    if (f == NULL) {
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL) {
            f = dlsym(handle, name);
            dlclose(handle);
        }
    }
    return f;
}

/* Returns whether the last call threw, and clears the exception. The rules of JNI require this check after each call that may throw. */
static bool threw(jni_t env)
{
    bool exception = ((uint8_t(*)(jni_t))(*env)[EXCEPTION_CHECK])(env) != 0;
    if (exception) {
        ((void (*)(jni_t))(*env)[EXCEPTION_CLEAR])(env);
    }
    return exception;
}

/* Returns a class without initialising it, because ProcessImpl's initialiser changes how the process treats SIGCHLD. */
static void *find_class(jni_t env, const char *name)
{
    void *classes = ((void *(*)(jni_t, const char *))(*env)[FIND_CLASS])(env, "java/lang/Class");
    if (threw(env)) {
        return NULL;
    }
    void *for_name = ((void *(*)(jni_t, void *, const char *, const char *))(*env)[GET_STATIC_METHOD_ID])(
        env, classes, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    if (threw(env)) {
        return NULL;
    }
    void *string = ((void *(*)(jni_t, const char *))(*env)[NEW_STRING_UTF])(env, name);
    if (threw(env)) {
        return NULL;
    }
    value_t args[3] = {{.l = string}, {.l = NULL}, {.l = NULL}};
    void *c = ((void *(*)(jni_t, void *, void *, const value_t *))(*env)[CALL_STATIC_OBJECT_METHOD_A])(env, classes, for_name,
                                                                                                       args);
    return threw(env) ? NULL : c;
}

static bool bind(jni_t env, const char *class_name, const char *name, const char *signature, void *function)
{
    native_t method = {name, signature, function};
    void *c = find_class(env, class_name);
    bool bound = c != NULL
            && ((int32_t(*)(jni_t, void *, const native_t *, int32_t))(*env)[REGISTER_NATIVES])(env, c, &method, 1) == 0;
    return !threw(env) && bound; /* The call throws when the class has no such method. */
}

static int32_t bind_both(jni_t vm)
{
    jni_t env = NULL;

    jdk_start = (start_fn)function_of("libjvm.so", "JVM_StartThread");
    jdk_fork = (fork_fn)function_of("libjava.so", "Java_java_lang_ProcessImpl_forkAndExec");
    if (jdk_start == NULL || jdk_fork == NULL) {
        return -ENOSYS;
    }
    if (((int32_t(*)(jni_t, void **, int32_t))(*vm)[GET_ENV])(vm, (void **)&env, JNI_VERSION) != 0) {
        return -ESRCH;
    }
    if (!bind(env, "java.lang.ProcessImpl", "forkAndExec", FORK_SIGNATURE, (void *)fork_and_exec)) {
        return -EINVAL;
    }
    if (!bind(env, "java.lang.Thread", "start0", "()V", (void *)start0)) {
        bind(env, "java.lang.ProcessImpl", "forkAndExec", FORK_SIGNATURE, (void *)jdk_fork); /* Either both are bound or none. */
        return -EINVAL;
    }
    return 0;
}

/* The result of bind_both when the JVM loaded this copy. Written by JNI_OnLoad. */
static int32_t bound = -ESRCH;

/* NULL if the C library is not glibc. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

/*
 * The JVM calls this in System.load. The two innermost Java frames are the JDK's then. HotSpot warns when other code binds methods of
 * the JDK.
 */
GMP_EXPORT int32_t JNI_OnLoad(void *vm, void *reserved);
int32_t JNI_OnLoad(void *vm, void *reserved)
{
    (void)reserved;
    if (gnu_get_libc_version != NULL) { /* Another C library: Shims refuses it. */
        bound = bind_both((jni_t)vm);
    }
    return JNI_VERSION;
}

int32_t gmp_thread_hook(void)
{
    pthread_once(&once, prepare);
    hooked = bound == 0;
    return bound;
}
