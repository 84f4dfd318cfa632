// Columns of a table: base64, gzip, JSON, differences.

async function unpack(base64) {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The values of a column: numbers, those not known as NaN. Of a text they are places in its names.
function decoded(stored) {
  const values = new Float64Array(stored.differences.length);
  let sum = 0;
  stored.differences.forEach((difference, at) => {
    if (difference === null) {
      values[at] = NaN;
    } else {
      sum += difference;
      values[at] = sum * stored.unit;
    }
  });
  return { name: stored.name, kind: stored.kind, names: stored.names, values };
}

// What a column shows of a row; empty where it is not known.
function shown(column, row) {
  const value = column.values[row];
  if (Number.isNaN(value)) return "";
  return column.names ? column.names[value] : KINDS[column.kind].show(value);
}

// The places of names in the order of the alphabet, with numbers in them by size.
function ranks(names) {
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const order = names.map((_, at) => at).sort((a, b) => compare(names[a], names[b]));
  const rank = new Float64Array(names.length);
  order.forEach((name, at) => { rank[name] = at; });
  return rank;
}

// A field of CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe.
function field(text) {
  const isFormula = /^'*([=@\t\r\n]|[+-](?![0-9.]+(e[+-]?[0-9]+)?$))/i.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]|^ | $|^$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(columns, rows) {
  const lines = [columns.map((column) => field(column.name + KINDS[column.kind].unit)).join(",")];
  for (const row of rows) {
    lines.push(columns.map((column) => {
      const value = column.values[row];
      if (Number.isNaN(value)) return "";
      return column.names ? field(column.names[value]) : KINDS[column.kind].csv(value);
    }).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}
