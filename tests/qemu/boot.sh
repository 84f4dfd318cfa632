#!/bin/busybox sh
# The first process of the machine: loads the modules and goes over to the disk.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for module in /modules/*.ko; do
    $b insmod "$module" || echo "boot.sh: $module was not loaded"
done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 100 ]; do
    $b usleep 100000
    tries=$((tries + 1))
done
$b mount -t ext4 /dev/vda /new || { echo "boot.sh: the disk cannot be mounted"; $b poweroff -f; }
$b umount /proc
$b umount /sys
$b mount -o move /dev /new/dev
exec $b switch_root /new /sbin/init
