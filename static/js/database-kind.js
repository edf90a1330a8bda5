// The port follows the kind of database, as long as it is still that of the kind chosen before.

const kind = document.querySelector("#id_engine");
const usual = { postgresql: "5432", mysql: "3306" };
let before = kind?.value;

kind?.addEventListener("change", () => {
  const port = document.querySelector("#id_port");
  if (port.value === usual[before]) port.value = usual[kind.value] ?? port.value;
  before = kind.value;
});
