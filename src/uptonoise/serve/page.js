// The page of uptonoise serve: it sends files and choices to the server on this machine, and shows what comes back.
// Texts from files are only ever set as textContent.
const byId = (id) => document.getElementById(id);
const base = `tabs/${document.body.dataset.tab}`;
const files = {};
const uploads = {};
let columns = [];
let polling = null;
let reading = 0;

function show(id, visible) { byId(id).hidden = !visible; }

function listInto(id, texts) {
  const items = texts.map((text) => { const item = document.createElement("li"); item.textContent = text; return item; });
  byId(id).replaceChildren(...items);
  show(id, texts.length > 0);
}

async function ask(method, path, settings) {
  const options = { method };
  if (settings !== undefined) options.body = JSON.stringify(settings);
  let answer;
  try {
    answer = await fetch(`${base}/${path}`, options);
  } catch {
    throw new Error("the server does not answer; was it stopped?");
  }
  const values = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(values.error);
  return values;
}

function showProblem(text) {
  byId("problem").textContent = text;
  show("problem-section", true);
  byId("problem").focus();
}

// Files

function send(place, file) {
  uploads[place]?.abort();
  const request = uploads[place] = new XMLHttpRequest();
  const state = byId(`${place}-state`);
  if (file.size > Number(document.body.dataset.most)) {
    const most = Math.floor(document.body.dataset.most / 1e6);
    state.textContent = `${file.name}: the file is larger than ${most} MB; uptonoise serve --max-size allows more`;
    return;
  }
  state.textContent = `${file.name}: sending`;
  request.upload.onprogress = (event) => {
    if (event.lengthComputable) state.textContent = `${file.name}: ${Math.floor(100 * event.loaded / event.total)} % sent`;
  };
  request.onload = () => {
    const values = (() => { try { return JSON.parse(request.responseText); } catch { return { error: request.statusText }; } })();
    if (request.status === 200) {
      files[place] = values.name;
      state.textContent = `${values.name} is ready`;
      document.querySelector(`[data-remove=${place}]`).hidden = false;
      readColumns();
    } else {
      state.textContent = `${file.name}: ${values.error}`;
    }
  };
  request.onerror = () => { state.textContent = `${file.name}: it was refused or the server does not answer; it may be too large`; };
  request.open("PUT", `${base}/files/${place}`);
  request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
  request.send(file);
}

for (const zone of document.querySelectorAll(".drop")) {
  const place = zone.dataset.place;
  byId(place).addEventListener("change", (event) => { if (event.target.files[0]) send(place, event.target.files[0]); });
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const [one, two] = event.dataTransfer.files;
    if (one) send(place, one);
    if (two) send(place === "first" ? "second" : "first", two);
  });
}

for (const button of document.querySelectorAll("[data-remove]")) {
  button.addEventListener("click", async () => {
    const place = button.dataset.remove;
    await ask("DELETE", `files/${place}`).catch((error) => showProblem(error.message));
    delete files[place];
    byId(place).value = "";
    byId(`${place}-state`).textContent = "";
    button.hidden = true;
    byId(place).focus();
    readColumns();
  });
}

// Columns

async function readColumns() {
  const n = Object.keys(files).length;
  show("columns-section", n > 0);
  show("question-section", n > 0);
  if (n === 0) return;
  const number = ++reading;
  byId("compare").disabled = true;
  byId("reading").textContent = "reading the columns";
  let answer;
  try { answer = await ask("POST", "columns", settings()); } catch (error) { answer = { error: error.message }; }
  if (number !== reading) return; // another file came meanwhile
  byId("compare").disabled = polling !== null;
  byId("reading").textContent = "";
  const problem = answer.error ?? answer.problem ?? "";
  byId("columns-problem").textContent = problem;
  show("columns-problem", problem !== "");
  columns = answer.columns ?? [];
  listInto("notes", answer.notes ?? []);
  drawColumns();
  showCommand();
}

function drawColumns() {
  const places = ["first", "second"].filter((place) => place in files);
  const head = document.createElement("tr");
  for (const text of ["Column", ...places.map((place) => files[place]), "Not compared because"]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = text;
    head.append(cell);
  }
  document.querySelector("#columns thead").replaceChildren(head);
  document.querySelector("#columns tbody").replaceChildren(...columns.map(columnRow));
  fill("by", places.length === 1 ? columns : []);
  fill("cluster", columns);
  show("by-field", places.length === 1);
  show("paired-field", places.length === 2);
}

function columnRow(column, number) {
  const row = document.createElement("tr");
  const tick = Object.assign(document.createElement("input"), { type: "checkbox", id: `column-${number}`, checked: column.used });
  tick.addEventListener("change", showCommand);
  const label = Object.assign(document.createElement("label"), { htmlFor: tick.id, textContent: column.name });
  const name = document.createElement("td");
  name.append(tick, " ", label);
  row.append(name, ...column.values.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
  row.append(Object.assign(document.createElement("td"), { textContent: column.why, className: "why" }));
  return row;
}

function fill(id, all) {
  const before = byId(id).value;
  const names = all.filter((column) => column.groups).map((column) => column.name);
  byId(id).replaceChildren(new Option("none", ""), ...names.map((name) => new Option(name, name)));
  if (names.includes(before)) byId(id).value = before;
}

const ticks = () => [...document.querySelectorAll("#columns input")];
byId("all").addEventListener("click", () => { ticks().forEach((tick, i) => { tick.checked = columns[i].used; }); showCommand(); });
byId("none").addEventListener("click", () => { ticks().forEach((tick) => { tick.checked = false; }); showCommand(); });

// Question

function settings() {
  const values = Object.fromEntries(new FormData(byId("form")).entries());
  values.paired = byId("paired").checked;
  values.columns = columns.map((column) => column.name);
  values.default = columns.filter((column) => column.used).map((column) => column.name);
  const chosen = ticks();
  values.ticked = values.columns.filter((_, i) => chosen[i]?.checked);
  delete values.first;
  delete values.second;
  return values;
}

let latest = 0;
async function showCommand() {
  const number = ++latest;
  let text;
  try { text = (await ask("POST", "command", settings())).command; } catch (error) { text = `(${error.message})`; }
  if (number === latest) byId("command").textContent = text;
}

byId("form").addEventListener("change", (event) => {
  if ("reading" in event.target.dataset) readColumns();
  else if (event.target.type !== "file") showCommand();
});
byId("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(byId("command").textContent);
  byId("copy").textContent = "Copied";
});

// The computation

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  show("problem-section", false);
  show("answer", false);
  try {
    await ask("POST", "job", settings());
  } catch (error) {
    showProblem(error.message);
    return;
  }
  show("working", true);
  byId("compare").disabled = true;
  byId("cancel").disabled = false;
  byId("cancel").focus();
  polling = setInterval(poll, 400);
});

byId("cancel").addEventListener("click", async () => {
  byId("cancel").disabled = true;
  await ask("DELETE", "job").catch(() => {});
  poll();
});

async function poll() {
  let job;
  try { job = await ask("GET", "job"); } catch (error) { job = { state: "failed", message: error.message }; }
  if (polling === null) return;
  if (job.state === "running") {
    const part = job.fraction === null ? "" : `, ${Math.floor(100 * job.fraction)} %`;
    byId("label").textContent = `${job.label}${part} (${Math.floor(job.seconds)} s)`;
    if (job.fraction === null) byId("progress").removeAttribute("value");
    else byId("progress").value = job.fraction;
    return;
  }
  clearInterval(polling);
  polling = null;
  show("working", false);
  byId("compare").disabled = false;
  if (job.state === "done") showAnswer(job);
  else showProblem(job.message ?? "the comparison ended");
}

function showAnswer(job) {
  byId("sentence").textContent = job.message;
  listInto("said", job.notes);
  byId("report").src = `${base}/report?at=${Date.now()}`;
  byId("download").href = `${base}/report?download`;
  show("answer", true);
  byId("sentence").focus();
}
