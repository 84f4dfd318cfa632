// Numbers and times as people read them, in the same words as the figures.

const TWO = (n) => String(Math.floor(n)).padStart(2, "0");
const COUNT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const FINE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

function duration(us) {
  const sign = us < 0 ? "-" : "";
  const seconds = Math.abs(us) / 1e6;
  if (seconds === 0) return "0s";
  if (seconds < 0.0009995) return `${sign}${Math.round(seconds * 1e6)}µs`;
  if (seconds < 0.9995) return `${sign}${Math.round(seconds * 1e3)}ms`;
  if (seconds < 59.95) return `${sign}${Math.round(seconds * 10) / 10}s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)}m ${TWO(whole % 60)}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${sign}${Math.floor(minutes / 60)}h ${TWO(minutes % 60)}m`;
  const hours = Math.round(seconds / 3600);
  return `${sign}${COUNT.format(Math.floor(hours / 24))}d ${TWO(hours % 24)}h`;
}

function bytes(n) {
  if (Math.abs(n) < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = n / 1024;
  let unit = 0;
  while (Math.abs(value) >= 1023.95 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

// Of each kind: how a value is shown, and how CSV has it, with the unit of the column there.
const KINDS = {
  text: { show: (v) => v, csv: (v) => v, unit: "" },
  count: { show: (v) => COUNT.format(v), csv: (v) => String(v), unit: "" },
  time: {
    show: (v) => new Date(v / 1000).toISOString().slice(0, 19).replace("T", " "),
    csv: (v) => `${new Date(Math.floor(v / 1000)).toISOString().slice(0, 19)}.${String(((v % 1e6) + 1e6) % 1e6).padStart(6, "0")}Z`,
    unit: " (UTC)",
  },
  duration: { show: duration, csv: (v) => String(v / 1e6), unit: " (s)" },
  bytes: { show: bytes, csv: (v) => String(v), unit: " (bytes)" },
  core_hours: { show: (v) => (Math.abs(v) < 100 ? FINE : COUNT).format(v / 1000), csv: (v) => String(v / 1000), unit: "" },
  share: { show: (v) => `${COUNT.format(Math.round(v) / 10)}%`, csv: (v) => String(v / 1000), unit: " (0 to 1)" },
};
