/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What this tracer reads of the kernel's structures: names and types only, places are looked up while loading (CO-RE). `___x` marks a shape of some kernels. */
#ifndef KERNEL_H
#define KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr {
	const unsigned char *name;
};
struct dentry;
struct super_block;
struct inode;
struct mount;
struct cgroup;
struct task_struct;

struct hlist_bl_node {
	struct hlist_bl_node *next, **pprev;
};
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct ns_common {
	u32 inum;
};
struct mnt_namespace {
	struct ns_common ns;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct file_system_type {
	const char *name;
};
struct super_block {
	u32 s_dev;
	struct file_system_type *s_type;
};
struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	s64 i_size;
	u32 i_generation;
};
struct address_space {
	struct inode *host;
};
struct file {
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	unsigned int f_mode;
	s64 f_pos;
	struct address_space *f_mapping;
};
typedef struct {
	s64 counter;
} atomic64_t;
struct file___count { /* until 6.12 */
	atomic64_t f_count;
};
typedef struct {
	atomic64_t refcnt;
} file_ref_t;
struct file___ref { /* since 6.13: one less than the number of references */
	file_ref_t f_ref;
};
typedef struct {
	int counter;
} atomic_t;
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	atomic_t count;
	struct fdtable *fdt;
};
struct fs_struct {
	struct path root;
	struct path pwd;
};

struct kernfs_node {
	u64 id;
};
struct cgroup_root {
	int hierarchy_id;
};
struct cgroup_subsys_state {
	struct cgroup *cgroup;
};
struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};
struct cgroup___pointers { /* since 6.1 */
	struct cgroup *ancestors[1];
};
struct cgroup___ids { /* until 6.0 */
	u64 ancestor_ids[1];
};
struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct upid {
	int nr;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};
struct kuid_struct {
	u32 val;
};
struct kgid_struct {
	u32 val;
};
struct cred {
	struct kuid_struct uid, euid;
	struct kgid_struct egid;
};
struct task_io_accounting {
	u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};
struct list_head {
	struct list_head *next;
};
struct signal_struct {
	int nr_threads;
	atomic_t live;
	struct list_head thread_head;
	int group_exit_code;
	unsigned int flags;
	u64 utime, stime;
	unsigned long long sum_sched_runtime;
	struct task_io_accounting ioac;
};
struct mm_struct {
	unsigned long arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
};
struct sched_entity {
	u64 sum_exec_runtime;
};
struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
};
struct thread_info___x86 {
	u32 status;
};
struct thread_info___arm64 {
	unsigned long flags;
};
struct task_struct___x86 {
	struct thread_info___x86 thread_info;
};
struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
};
struct task_struct {
	unsigned int flags;
	int pid, tgid;
	int exit_code;
	struct task_struct *group_leader, *real_parent;
	struct list_head thread_node;
	struct mm_struct *mm;
	struct pid *thread_pid;
	u64 start_boottime;
	u64 utime, stime;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_io_accounting ioac;
	const struct cred *real_cred;
	const struct cred *cred;
	struct fs_struct *fs;
	struct files_struct *files;
	struct signal_struct *signal;
	struct css_set *cgroups;
};
struct linux_binprm {
	struct file *file;
};

/* Registers at a system call. x86-64: arch/x86/entry/calling.h; arm64: the first argument is kept in orig_x0. */
struct pt_regs {
	int of_an_architecture_below;
};
struct pt_regs___x86 {
	unsigned long bx, di, si, dx, r10, r8, r9, orig_ax;
};
struct pt_regs___arm64 {
	u64 regs[31];
	u64 orig_x0;
	s32 syscallno;
};

struct kiocb {
	struct file *ki_filp;
	s64 ki_pos;
};
struct io_rw {
	struct kiocb kiocb;
	u64 addr;
	u32 len;
};
struct io_uring_cqe {
	u64 user_data;
	s32 res;
};
struct io_kiocb {
	struct file *file;
	u8 opcode;
	unsigned int flags; /* 32 or 64 bits: the low ones */
	void *ctx;
	u64 user_data; /* until 5.18 */
};
struct io_cqe {
	u64 user_data;
	int fd;
};
struct io_kiocb___completion { /* since 5.19 */
	struct io_cqe cqe;
};

/* What a request of io_uring asks for, in the place of its `file` and behind it. */
struct filename {
	const char *name;
};
struct open_how {
	u64 flags;
};
struct io_open {
	int dfd;
	u32 file_slot;
	struct filename *filename;
	struct open_how how;
};
struct io_close {
	int fd;
	u32 file_slot;
};
struct io_sync {
	s64 len, off;
	int mode;
};
struct io_ftrunc { /* since 6.9 */
	s64 len;
};
struct io_rename {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
	int flags;
};
struct io_unlink {
	int dfd, flags;
	struct filename *filename;
};
struct io_link { /* since 6.0 */
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
};
struct io_hardlink { /* before */
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
};

struct renamedata {
	struct dentry *old_dentry;
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	u32 fd;
	struct file *file;
};

enum cgroup_subsys_id {
	freezer_cgrp_id,
	memory_cgrp_id,
	cpuset_cgrp_id,
	devices_cgrp_id,
	cpuacct_cgrp_id,
};
#pragma clang attribute pop
#endif
