// An app with what apps have. Whatever a person gets to do in it is written down in `reached`.

import { mount } from './mount.js';
import { VersionGate } from './versiongate.js';

window.reached = [];
window.locks = [];
window.mount = mount;
window.VersionGate = VersionGate;
const query = new URLSearchParams(location.search);
const reach = (what) => () => window.reached.push(what);

document.addEventListener('keydown', (event) => event.key === 'd' && window.reached.push('a hotkey'));
addEventListener('paste', reach('paste'));
document.addEventListener('drop', (event) => {
  event.preventDefault();
  window.reached.push('drop');
});
document.addEventListener('dragover', (event) => event.preventDefault());
for (const id of ['add', 'settings', 'next', 'own-button', 'pop-button', 'area']) {
  document.getElementById(id).addEventListener('click', reach(`a click on ${id}`));
}
document.getElementById('task').addEventListener('input', reach('input'));
document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault();
  window.reached.push('submit');
});

if (query.has('worker')) {
  const policy = trustedTypes.createPolicy('app', { createScriptURL: (address) => address });
  await navigator.serviceWorker.register(policy.createScriptURL('./worker.js'));
}
if (query.has('focus')) document.getElementById('task').focus();
window.gate = new VersionGate({
  server: location.origin,
  app: { bundle: 'com.example.doto', version: '1.0', language: query.get('language') ?? 'en' },
  maximumAge: query.has('unkept') ? 0 : 7,
});
window.screens = mount(window.gate, { onLockout: (message) => window.locks.push(message?.id ?? null) });
