/* What must be left of a folder after a power cut: of a file what it was when it was last synced, and of a folder the names that
   it had then (fsync(2) of a file promises nothing of its name). It is kept in another folder, each file and list of names by
   an identity. Included by fault-points.c; FaultPoints.swift puts it in place of what there is. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where it is kept. */
static const char *synced;

/* A name for a file that no other has, whatever it is called meanwhile: its number may be given again. */
struct identity {
    char text[64];
    unsigned mode;
};

static int identify(int at, const char *name, struct identity *found) {
    struct statx facts;
    if (statx(at, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &facts)) return -1;
    snprintf(found->text, sizeof found->text, "%llx-%llx.%x", (unsigned long long)facts.stx_ino,
             (unsigned long long)facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec);
    found->mode = facts.stx_mode;
    return 0;
}

static void require(int holds) {
    if (!holds) abort();
}

static void copy_content(int from, FILE *to) {
    char bytes[1 << 16];
    ssize_t count;
    for (off_t place = 0; (count = pread(from, bytes, sizeof bytes, place)) > 0; place += count)
        require(fwrite(bytes, 1, count, to) == (size_t)count);
    require(count == 0);
}

static void list_names(int from, FILE *to) {
    DIR *directory = fdopendir(dup(from));
    require(directory != NULL);
    rewinddir(directory);
    struct dirent *entry;
    struct identity identity;
    while ((entry = readdir(directory))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (identify(from, entry->d_name, &identity) == 0)
            fprintf(to, "%o %s %s\n", identity.mode, identity.text, entry->d_name);
    }
    closedir(directory);
}

/* Keeps what a file contains now, or the names of a folder. At each moment all of that is there, or what was kept before. */
static void keep(int descriptor) {
    struct identity identity;
    char path[PATH_MAX], place[PATH_MAX];
    require(identify(descriptor, "", &identity) == 0);
    /* The caller's may be for writing only. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    require(from >= 0);
    snprintf(path, sizeof path, "%s/unfinished", synced);
    FILE *to = fopen(path, "we");
    require(to != NULL);
    if (S_ISDIR(identity.mode)) list_names(from, to);
    else copy_content(from, to);
    require(fclose(to) == 0);
    close(from);
    snprintf(place, sizeof place, "%s/%s", synced, identity.text);
    require(rename(path, place) == 0);
}

/* Everything in the folder as it is now, or only the names that there are. */
static void keep_below(const char *path, int only_names) {
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat facts;
    require(fstat(descriptor, &facts) == 0);
    if (S_ISDIR(facts.st_mode) || (S_ISREG(facts.st_mode) && !only_names)) keep(descriptor);
    if (S_ISDIR(facts.st_mode)) {
        DIR *directory = opendir(path);
        require(directory != NULL);
        struct dirent *entry;
        while ((entry = readdir(directory))) {
            char below[PATH_MAX];
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            require(snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below);
            keep_below(below, only_names);
        }
        closedir(directory);
    }
    close(descriptor);
}

static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

/* All that is in the folder when nothing is kept yet counts as synced. The file `root` has the folder's identity. */
static void begin_keeping(const char *folder) {
    struct identity identity;
    char path[PATH_MAX];
    pthread_mutex_lock(&keeping);
    snprintf(path, sizeof path, "%s/root", synced);
    if (access(path, F_OK) != 0) {
        keep_below(folder, 0);
        require(identify(AT_FDCWD, folder, &identity) == 0);
        FILE *root = fopen(path, "we");
        require(root != NULL && fputs(identity.text, root) >= 0 && fclose(root) == 0);
    }
    pthread_mutex_unlock(&keeping);
}

/* A descriptor has been synced. */
static void keep_synced(int descriptor) {
    pthread_mutex_lock(&keeping);
    keep(descriptor);
    pthread_mutex_unlock(&keeping);
}

/* Some file systems are quicker with names than with what is in files. */
static void keep_names(const char *folder) {
    pthread_mutex_lock(&keeping);
    keep_below(folder, 1);
    pthread_mutex_unlock(&keeping);
}
