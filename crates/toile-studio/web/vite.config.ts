import { defineConfig } from 'vite';

// Everything is served from '/', also to pages at /r/ROOM, and inline scripts are forbidden by the server's policy.
export default defineConfig({
  base: '/',
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:4870',
      '/ws': { target: 'ws://127.0.0.1:4870', ws: true },
    },
  },
});
