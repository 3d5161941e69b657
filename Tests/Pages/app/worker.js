// A service worker that answers for the page, and not for the frame in it, from what it kept when it was installed:
// version {version}.

const name = 'version {version}';

addEventListener('install', (event) => event.waitUntil(caches.open(name).then((cache) => cache.add('/app/?worker'))));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', ({ data }) => data?.type === 'SKIP_WAITING' && skipWaiting());
addEventListener('fetch', (event) => {
  if (event.request.destination === 'document') {
    event.respondWith(caches.open(name).then((cache) => cache.match('/app/?worker')));
  }
});
